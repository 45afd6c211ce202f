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

// CallHeader is the request header with the ID of a call; see [World.Call].
const CallHeader = "X-Call"

// World is the environment of a program. All of it is in one bubble.
type World struct {
	// Client has the plan's credential, transport and policy. Use its With to derive others.
	Client *forge.Client
	// Server is the server of the client. Its clock is the bubble's.
	Server *forgetest.Server
	// Data has the records of the plan.
	Data Data

	plan        WorldPlan
	net         *network
	certificate *certificate
	transport   *http.Transport
	tokens      *tokens
	below       http.Handler // the server without the faults
	servers     []*http.Server
	serving     sync.WaitGroup
	began       time.Time
	ctx         context.Context //nolint:containedctx // it ends with the world
	end         context.CancelFunc

	mu        sync.Mutex // guards the fields below; no one waits while holding it
	wire      []*Exchange
	events    []Event
	rows      []Row
	attempts  map[string]int      // by key of an exchange
	positions map[string][]string // list positions that were requested, by call and path
	dials     map[string]int      // by origin and call
	struck    map[int]bool        // by number of the connection
	inserted  int
	dateOff   time.Duration
	clients   []*forge.Client
}

// Call marks a call: the context is for its connections, the option for its requests.
func (w *World) Call(ctx context.Context, id string) (context.Context, forge.RequestOption) {
	return withCall(ctx, id), forge.Header(CallHeader, id)
}

// Now returns the virtual time since the world began.
func (w *World) Now() time.Duration { return time.Since(w.began) }

// NewClient creates a separate client. It shares only the network with the others. The options come
// after the plan's credential, so that they may replace everything.
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

// options returns the options of the plan.
func (w *World) options() []forge.Option {
	own := []forge.Option{
		forge.WithHTTPClient(&http.Client{Transport: w.transport}),
		forge.WithRetry(w.plan.Retry),
		forge.WithRegistry(w.Server.RegistryURL, w.Server.RegistryAuthURL),
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

// newWorld starts the servers and creates the client. It runs in the bubble.
func newWorld(plan WorldPlan, c *certificate) (*World, error) {
	w := &World{
		plan: plan, net: newNetwork(plan.Latency), certificate: c, tokens: newTokens(plan), began: time.Now(),
		attempts: map[string]int{}, positions: map[string][]string{}, dials: map[string]int{}, struck: map[int]bool{},
	}
	w.ctx, w.end = context.WithCancel(context.Background())
	w.net.onDial = w.dialing
	w.openTransport()
	host, address := w.home()
	options := []forgetest.Option{
		forgetest.WithListener(w.wrap(w.net.listen(address))),
		forgetest.WithExternalURL(w.scheme() + host),
		forgetest.WithToken(serverToken),
		forgetest.WithHTTPServer(w.around),
	}
	if plan.Later {
		options = append(options, forgetest.WithUnknownFields("later"))
	}
	server, err := forgetest.Start(options...)
	if err != nil {
		return nil, fmt.Errorf("the server cannot start: %w", err)
	}
	w.Server = server
	w.Data = fill(server, plan.Data)
	w.openOthers()
	if w.Client, err = w.NewClient(); err != nil {
		w.close()
		return nil, fmt.Errorf("the client cannot be created: %w", err)
	}
	return w, nil
}

const serverToken = "simulated-server-token"

// openOthers starts the servers other than forgetest.
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

// close stops everything that the world has started, and waits for its end.
func (w *World) close() {
	w.closeIdle()
	w.end()
	w.Server.Close()
	for _, s := range w.servers {
		_ = s.Close()
	}
	w.serving.Wait()
}

// closeIdle closes the clients' idle connections.
func (w *World) closeIdle() {
	w.mu.Lock()
	clients := slices.Clone(w.clients)
	w.mu.Unlock()
	for _, c := range clients {
		c.CloseIdleConnections()
	}
}

type connKey struct{}

// around adds the faults to the server's handler, and the connection to the context of requests.
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

// inner returns the connection in memory below TLS; nil for another kind of connection.
func inner(c net.Conn) *conn {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	own, _ := c.(*conn)
	return own
}
