package forgetest

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/forge-sdk/forge-go/internal/pipenet"
)

// apiPath is the start of every path of the API (Document 1 §1).
const apiPath = "/api/v4"

// Server is a running test server. Create it with [New] or [Start].
type Server struct {
	// URL is the base URL for clients: scheme, host, port and the prefix of [WithPrefix].
	URL string
	// RegistryURL and RegistryAuthURL are the addresses of the container registry and of its token
	// endpoint. The same listener serves them.
	RegistryURL, RegistryAuthURL string
	// Token is the access token of the default user, an administrator named "root".
	Token string
	// JobToken is a CI job token of the default user, of a pipeline of the first project that was
	// added. It works where the contract accepts job tokens, and has access to this project only;
	// [WithJobTokenForAllProjects] changes this. AddJobToken returns those of other projects.
	JobToken string

	addr, prefix      string
	origin            string       // of WithExternalURL
	listener          net.Listener // instead of one at addr
	bound             net.Addr     // of the listener in use
	tls               bool
	certificate       *tls.Certificate
	configure         func(*http.Server) // before it serves
	demo              bool
	neutral           bool // the words of the documents
	tier              Tier
	offering          Offering
	release           release
	maxQuery          int
	auditLimit        AuditEventLimit
	changes           changes
	listensEverywhere bool // on all addresses of the machine
	jobReachesAll     bool // the job token has access to all projects
	limitHeaders      bool // responses below the limit have the headers, too

	http     *http.Server
	stop     context.CancelFunc
	serving  sync.WaitGroup // the accept loop
	conns    sync.WaitGroup // connections of the accept loop
	handlers sync.WaitGroup // running requests, hijacked ones included

	log    requestLog
	faults faultList
	routes routeTable
	test   testing.TB // of New; nil after Start

	control  *control  // nil without WithControl
	printer  io.Writer // of WithRequestLog
	seeds    []seedSource
	seedName string // of the data that the server began with

	mu         sync.Mutex // guards everything below
	linkHost   string
	clock      func() time.Time
	background []task // by due time, see schedule
	visibility visibility
	store      store
}

// Option configures a new server.
type Option func(*Server)

// WithDemo fills the server with the demo data set: group "acme" with four projects, about 300
// issues, a small Go repository, container images, runners, audit events and users of an import.
// The clock is stopped at [DemoTime], so background work ends only with FinishBackgroundJobs and
// rate limits never expire. SetClock sets a running clock.
//
//   - Groups: acme, acme/platform.
//   - Projects: acme/storefront, acme/billing-api, acme/platform/gateway (which has the
//     repository), acme/mobile-app. Each has the labels bug, security, feature, performance,
//     documentation and "good first issue".
//   - Container images: acme/storefront/web (tags such as dev-..., mr-..., v1.0.0),
//     acme/storefront/cron, acme/platform/gateway.
//   - Users: maya.lindqvist (Owner of acme), tomas.berg (Maintainer), aisha.khan, daniel.okafor and
//     yuki.tanaka (Developer), priya.raman (Reporter).
func WithDemo() Option {
	return func(s *Server) { s.demo, s.seedName, s.clock = true, "demo", DemoTime }
}

// WithAddr sets the address to listen on; the default is a free port of 127.0.0.1.
func WithAddr(addr string) Option { return func(s *Server) { s.addr = addr } }

// WithListener serves on the given listener instead of opening one; Close closes it. Its address is
// the host of the server's URLs. [WithMemoryNetwork] has its own.
// For TLS use [WithTLS]. A listener of tls.NewListener needs WithExternalURL("https://...") too,
// and its clients need its certificate.
func WithListener(l net.Listener) Option { return func(s *Server) { s.listener = l } }

// WithMemoryNetwork serves on a network in memory, which [Server.Client] uses. In a bubble of
// testing/synctest waits, retries and timeouts then take no time. Create the server in the bubble.
func WithMemoryNetwork() Option { return func(s *Server) { s.listener = pipenet.Listen() } }

// WithExternalURL sets the scheme and host of the server's URLs ("https://forge.test") if clients
// use another address than that of its listener, such as that of a proxy. Without a proxy an https
// address needs [WithTLS].
func WithExternalURL(origin string) Option {
	origin = strings.TrimSuffix(origin, "/")
	if address, err := url.Parse(origin); err != nil || address.Scheme == "" || address.Host == "" || address.Path != "" {
		panic(fmt.Sprintf("forgetest: WithExternalURL(%q): it must be a scheme and a host, as in https://forge.test", origin))
	}
	return func(s *Server) { s.origin = origin }
}

// WithHTTPServer calls configure with the http.Server before it serves, for example to wrap its
// Handler, or to set Protocols and ConnContext. configure must not change BaseContext and
// ConnState, which the server uses.
func WithHTTPServer(configure func(*http.Server)) Option {
	return func(s *Server) { s.configure = configure }
}

// WithToken sets the access token of the default user; by default every server has a new one.
func WithToken(token string) Option { return func(s *Server) { s.Token = token } }

// WithJobTokenForAllProjects lets [Server.JobToken] access all projects. A real job token can
// access one.
func WithJobTokenForAllProjects() Option { return func(s *Server) { s.jobReachesAll = true } }

// WithPrefix serves the API below a path prefix, as on a host that serves other applications, too:
// with "/forge" the API is at /forge/api/v4.
func WithPrefix(prefix string) Option {
	return func(s *Server) { s.prefix = strings.TrimSuffix("/"+strings.Trim(prefix, "/"), "/") }
}

// WithMaxQueryBytes sets the length of the longest query string; longer ones are 414. The default
// is 8 KiB.
func WithMaxQueryBytes(bytes int) Option { return func(s *Server) { s.maxQuery = bytes } }

// New starts a server for a test and closes it when the test ends. A failed test logs the requests
// and responses.
func New(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s, err := Start(opts...)
	if err != nil {
		t.Fatalf("forgetest: %v", err)
	}
	s.test = t
	t.Cleanup(func() {
		if t.Failed() {
			for _, r := range s.Requests() {
				t.Logf("forgetest: %s", r)
			}
		}
		s.Close()
	})
	return s
}

// Start starts a server outside a test. The caller closes it.
func Start(opts ...Option) (*Server, error) {
	s := &Server{addr: "127.0.0.1:0", clock: time.Now, maxQuery: defaultMaxQuery, tier: Ultimate, offering: SelfManaged, release: newest}
	for _, opt := range opts {
		opt(s)
	}
	listener, err := s.listen()
	if err != nil {
		return nil, err
	}
	s.bound = listener.Addr()
	s.setURLs(s.bound)
	if s.tls {
		s.certificate, err = newCertificate(hostOf(s.URL), "localhost", "127.0.0.1")
		if err != nil {
			return nil, err
		}
	}
	s.store.init()
	if s.offering == Hosted {
		s.store.rates["GET /projects/:id/repository/archive[.:format]"] = &rate{perMinute: limitedCalls}
	}
	s.store.root = s.addUser("root", true)
	if s.Token != "" {
		s.store.root.Token = s.Token
		s.store.tokens[s.Token] = credential{scheme: "access_token", user: s.store.root}
	}
	s.Token = s.store.root.Token
	s.JobToken = newToken("job")
	s.store.tokens[s.JobToken] = credential{scheme: "job_token", user: s.store.root}
	if s.demo {
		s.seedDemo()
	}
	if err := s.loadSeeds(); err != nil {
		_ = listener.Close()
		return nil, err
	}
	if s.control != nil {
		s.control.init()
	}
	s.run(listener)
	return s, nil
}

// run starts serving.
func (s *Server) run(listener net.Listener) {
	running, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), ConnState: s.trackConn, ErrorLog: discardLog(),
		BaseContext: func(net.Listener) context.Context { return running },
	}
	if s.configure != nil {
		s.configure(s.http)
	}
	s.serving.Go(func() { _ = s.serveOn(listener) })
}

func (s *Server) listen() (net.Listener, error) {
	if s.listener != nil {
		return s.listener, nil
	}
	return new(net.ListenConfig).Listen(context.Background(), "tcp", s.addr)
}

// Close ends all connections and waits for running requests and all goroutines of the server.
// Further calls have no effect.
func (s *Server) Close() {
	s.stop()
	_ = s.http.Close()
	s.serving.Wait()
	s.conns.Wait()
	s.handlers.Wait()
}

func (s *Server) trackConn(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.conns.Done()
	}
}

// SetClock replaces the clock. Timestamps, the Date header of responses, due-date keywords and rate
// limits follow it; delays do not.
func (s *Server) SetClock(now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = now
}

// SetLinkOrigin sets the scheme and host ("https://internal:8443") of the links that the server
// sends, as if its configured address were not the one that clients use. Empty restores the
// server's address.
func (s *Server) SetLinkOrigin(origin string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.linkHost = strings.TrimSuffix(origin, "/")
}

// base returns the prefix of links in the response to a request. A server that listens on all
// addresses of its machine knows none of them, such as one in a container: it takes the request's.
// The caller holds mu.
func (s *Server) base(r *http.Request) string {
	switch {
	case s.linkHost != "":
		return s.linkHost + s.prefix
	case s.listensEverywhere && s.origin == "":
		return s.URL[:strings.Index(s.URL, "://")+3] + r.Host + s.prefix
	}
	return s.URL
}

// now returns the server's time, to the millisecond and in UTC. The caller holds mu.
func (s *Server) now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }

// time is now without the lock.
func (s *Server) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

func newToken(kind string) string {
	b := make([]byte, 10)
	_, _ = rand.Read(b)
	return "forgetest-" + kind + "-" + hex.EncodeToString(b)
}
