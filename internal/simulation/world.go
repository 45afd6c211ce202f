package simulation

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// CallHeader is the request header by which a program marks its calls; see [World.Call].
const CallHeader = "X-Call"

// World is what a program runs in. All of it lives in one bubble.
type World struct {
	// Client has the plan's credential, transport and policy. Derive others with its With.
	Client *forge.Client
	// Server is the server that the client calls. Its clock is the bubble's.
	Server *forgetest.Server
	// Data are the records of the plan.
	Data Data

	plan        WorldPlan
	net         *network
	certificate *certificate
	transport   *http.Transport
	tokens      *tokens
	below       http.Handler // the server without faults
	servers     []*http.Server
	serving     sync.WaitGroup
	began       time.Time
	ctx         context.Context //nolint:containedctx // it ends with the world
	end         context.CancelFunc

	mu        sync.Mutex // guards what follows; nobody waits with it
	wire      []*Exchange
	events    []Event
	rows      []Row
	attempts  map[string]int      // by key of an exchange
	positions map[string][]string // pages that were asked for, by call and path
	dials     map[string]int      // by call
	struck    map[int]bool        // by number of the connection
	inserted  int
	dateOff   time.Duration
	clients   []*forge.Client
}

// Call marks a call: the context is for the connections that it opens, the option for its requests.
func (w *World) Call(ctx context.Context, id string) (context.Context, forge.RequestOption) {
	return withCall(ctx, id), forge.Header(CallHeader, id)
}

// Now is the virtual time since the world began.
func (w *World) Now() time.Duration { return time.Since(w.began) }

// NewClient makes a client of its own, which shares nothing but the network with the others. The
// credential of the plan comes first, so that options may replace all else.
func (w *World) NewClient(options ...forge.Option) (*forge.Client, error) {
	client, err := forge.NewClient(w.Server.URL, w.options()...)
	if err == nil && len(options) > 0 {
		client, err = client.With(options...)
	}
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.clients = append(w.clients, client)
	}
	return client, err
}

// options are those of the plan.
func (w *World) options() []forge.Option {
	own := []forge.Option{
		forge.WithHTTPClient(&http.Client{Transport: w.transport}),
		forge.WithRetry(w.plan.Retry),
		forge.WithRegistry(w.Server.RegistryURL, w.Server.AuthURL),
		forge.WithRegistryCredentials("root", w.Server.Token),
	}
	switch w.plan.Auth {
	case PersonalToken:
		own = append(own, forge.WithToken(w.Server.Token))
	case JobToken:
		own = append(own, forge.WithJobToken(w.Server.JobToken))
	case OAuth:
		own = append(own, w.withOAuth())
	}
	if w.plan.PlainHTTP {
		own = append(own, forge.WithPlainHTTP())
	}
	return own
}

// newWorld starts the servers and makes the client. It runs in the bubble.
func newWorld(plan WorldPlan, c *certificate) (*World, error) {
	w := &World{
		plan: plan, net: newNetwork(plan.Latency), certificate: c, tokens: newTokens(plan), began: time.Now(),
		attempts: map[string]int{}, positions: map[string][]string{}, dials: map[string]int{}, struck: map[int]bool{},
	}
	w.ctx, w.end = context.WithCancel(context.Background())
	w.net.onDial = w.dialing
	w.openTransport()
	host, address := w.home()
	server, err := forgetest.Start(
		forgetest.WithListener(w.wrap(w.net.listen(address))),
		forgetest.WithURL(w.scheme()+host),
		forgetest.WithToken(serverToken),
		forgetest.WithHTTPServer(w.around),
	)
	if err != nil {
		return nil, fmt.Errorf("the server does not start: %w", err)
	}
	w.Server = server
	w.Data = fill(server, plan.Data)
	w.openOthers()
	if w.Client, err = w.NewClient(); err != nil {
		w.close()
		return nil, fmt.Errorf("the client is not made: %w", err)
	}
	return w, nil
}

const serverToken = "simulated-server-token"

// openOthers starts the servers beside forgetest.
func (w *World) openOthers() {
	w.serve(w.otherAddress(), "other", &other{w})
	if w.plan.Protocol.secure() {
		w.serve("forge.test:80", "other", &other{w})
	}
	if w.plan.Auth == OAuth {
		_, address := w.auth()
		w.serve(address, "token", w.tokens)
	}
	if w.proxied() {
		w.serve(proxyAddress, "proxy", &proxy{w})
	}
}

// close ends what the world has started, and waits for it.
func (w *World) close() {
	w.closeIdle()
	w.end()
	w.Server.Close()
	for _, s := range w.servers {
		_ = s.Close()
	}
	w.serving.Wait()
}

// closeIdle gives back what the clients keep for later calls.
func (w *World) closeIdle() {
	w.mu.Lock()
	clients := slices.Clone(w.clients)
	w.mu.Unlock()
	for _, c := range clients {
		c.CloseIdleConnections()
	}
}

type connKey struct{}

// around puts the faults around the server's handler, and tells it the connection of a request.
func (w *World) around(s *http.Server) {
	next := s.Handler
	w.below = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.tokens.translate(r, w.Server.Token)
		if strings.HasSuffix(r.URL.Path, "/jwt/auth") {
			out = &tokenWriter{out, w.tokens}
		}
		next.ServeHTTP(out, r)
	})
	s.Handler = &front{world: w, origin: "forge", next: w.below}
	s.ConnContext = connContext
	w.prepare(s)
}

func connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, inner(c))
}

// inner finds the connection in memory below TLS.
func inner(c net.Conn) *conn {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	own, _ := c.(*conn)
	return own // nil for another kind of connection
}
