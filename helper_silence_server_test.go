package forge

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go/internal/pipenet"
)

// This file has the server of TestSilence, which sends nothing after a given point of an exchange.

// silencePoint is the point at which the peer becomes silent.
type silencePoint struct {
	name    string
	text    string // sent before the silence
	connect bool   // silent immediately after the connection is open
	secure  bool   // over TLS
	proxy   bool   // the peer is a proxy
	unread  bool   // the body of the request is not read
	token   string // path of a token endpoint; the API is not silent
	head    bool   // no response header arrives, so that HeaderTimeout ends the call
}

func silencePoints() []silencePoint {
	const (
		ok    = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
		moved = "HTTP/1.1 307 Temporary Redirect\r\nLocation: /moved\r\nContent-Length: 1000\r\n\r\nmoved"
		token = ok + "Content-Length: 1000\r\n\r\n{\"token\":"
		half  = "HTTP/1.1 200 Conn"
	)
	return []silencePoint{
		{name: "after accept", connect: true, head: true},
		{name: "after the request", head: true},
		{name: "in the status line", text: "HTTP/1.1 200 O", head: true},
		{name: "in the headers", text: ok + "Content-", head: true},
		{name: "after the headers", text: ok + "Content-Length: 1000\r\n\r\n"},
		{name: "in the body", text: ok + "Content-Length: 1000\r\n\r\n[{\"id\":"},
		{name: "before the last chunk", text: ok + "Transfer-Encoding: chunked\r\n\r\na\r\n[{\"id\":1}]\r\n"},
		{name: "after a 101", text: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"},
		{name: "after a 103", text: "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", head: true},
		{name: "in a redirect's body", text: moved},
		{name: "in an error body", text: "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 1000\r\n\r\n{"},
		{name: "before the proxy's response", proxy: true, secure: true, head: true},
		{name: "in the proxy's response", text: half, proxy: true, secure: true, head: true},
		{name: "in the TLS handshake", connect: true, secure: true, head: true},
		{name: "before the upload", unread: true},
		{name: "in the upload", text: "HTTP/1.1 100 Continue\r\n\r\n", unread: true},
		{name: "in front of the OAuth token", token: oauthTokenPath},
		{name: "in the OAuth token", text: token, token: oauthTokenPath},
		{name: "in front of the registry token", token: registryTokenPath},
		{name: "in the registry token", text: token, token: registryTokenPath},
	}
}

// silenceKind is a kind of call whose peer becomes silent.
type silenceKind struct {
	name string
	run  func(context.Context, *Client, ...RequestOption) error
}

const (
	aheadByPage = "list ahead by page"
	aheadByLink = "list ahead by link"
	redirected  = "redirected"
	execKind    = "exec"
)

// kinds returns the kinds of calls that can reach the point.
func (p silencePoint) kinds() []silenceKind {
	big := FileBytes(make([]byte, 16<<20))
	upload := func(file File) silenceKind {
		return silenceKind{"upload", func(ctx context.Context, c *Client, opts ...RequestOption) error {
			o := &UploadSecureFileOptions{Name: "a", File: file.Named("a")}
			_, err := c.SecureFiles.Upload(ctx, ID(1), o, append(opts, SkipValidation())...)
			return err
		}}
	}
	switch {
	case p.unread:
		return []silenceKind{upload(big)}
	case p.token == registryTokenPath:
		return silentRegistryCalls()
	}
	return append(silentCalls(), upload(FileBytes([]byte("content"))))
}

// silentCalls are kinds of calls of the API, and silentRegistryCalls those that need a registry token.
func silentCalls() []silenceKind {
	list := kindOf("list")
	ahead := func(ctx context.Context, c *Client, opts ...RequestOption) error {
		return list(ctx, c, append(opts, Ahead(4))...)
	}
	return []silenceKind{
		{"get", kindOf("get")}, {redirected, kindOf("get")}, {"list", list}, {aheadByPage, ahead}, {aheadByLink, ahead},
		{execKind, kindOf("exec, idempotent")}, {"download", kindOf("download")},
	}
}

func silentRegistryCalls() []silenceKind {
	list := func(ctx context.Context, c *Client, opts ...RequestOption) error {
		_, err := Collect(c.RegistryNative.ListCatalog(ctx, opts...))
		return err
	}
	return []silenceKind{{"get", kindOf("registry token")}, {"list", list}, {execKind, kindOf("registry token of a call")}}
}

// silentPeer serves one call, in memory.
type silentPeer struct {
	point    silencePoint
	kind     silenceKind
	listener *pipenet.Listener

	reached chan struct{} // closed when the peer is silent
	over    chan struct{} // the call has ended
	running sync.WaitGroup
	mu      sync.Mutex
	conns   []net.Conn
	last    time.Time // set by finish, which waits for connections until then
	fell    sync.Once
	open    int // connections that the client has not closed
}

// silencePatience is the time that the client has to close its connections after the call.
const silencePatience = 2 * time.Minute

func newSilentPeer(point silencePoint, kind silenceKind) *silentPeer {
	s := &silentPeer{point: point, kind: kind, listener: pipenet.Listen(), reached: make(chan struct{}), over: make(chan struct{})}
	s.running.Go(s.accept)
	return s
}

// client returns a client that connects to this server, for every address.
func (s *silentPeer) client(t *testing.T, policy RetryPolicy) *Client {
	t.Helper()
	transport, base := &http.Transport{DialContext: s.listener.DialContext}, "http://127.0.0.1:8080"
	if s.point.secure {
		base = "https://forge.example.com"
	}
	if s.point.proxy {
		transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: "127.0.0.1:3128"})
	}
	credential := WithToken(secret)
	if s.point.token == oauthTokenPath {
		credential = WithOAuth(&oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{
			TokenURL: base + oauthTokenPath, AuthStyle: oauth2.AuthStyleInParams,
		}}, expired("r1"))
	}
	c, err := NewClient(base, credential, WithHTTPClient(&http.Client{Transport: transport}), WithRetry(policy),
		WithRegistry(base+"/registry", base+"/auth"), WithRegistryCredentials("robot", "registry-password"))
	require.NoError(t, err)
	return c
}

func (s *silentPeer) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, conn)
		_ = conn.SetReadDeadline(s.last) // finish may not know this connection
		s.mu.Unlock()
		s.running.Go(func() { s.serve(conn) })
	}
}

// serve responds up to the silence, and detects whether the client closes the connection.
func (s *silentPeer) serve(conn net.Conn) {
	defer conn.Close()
	if s.point.connect {
		s.silence(conn, "")
		return
	}
	for r := bufio.NewReader(conn); ; {
		req, err := http.ReadRequest(r)
		if err != nil {
			s.ended(err)
			return
		}
		if s.silent(req) {
			if !s.point.unread {
				_, _ = io.Copy(io.Discard, req.Body)
			}
			s.silence(conn, s.point.text)
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		if _, err := io.WriteString(conn, s.response(req)); err != nil {
			s.ended(err)
			return
		}
	}
}

// silent reports whether the peer becomes silent in the response to the request.
func (s *silentPeer) silent(req *http.Request) bool {
	query := req.URL.Query()
	switch {
	case req.Method == http.MethodConnect:
		return true
	case s.point.token != "":
		return req.URL.Path == s.point.token
	case s.kind.name == redirected:
		return req.URL.Path == "/moved"
	case s.kind.name == aheadByPage:
		return query.Has("page") && query.Get("page") != "1" || req.URL.Path == "/moved"
	case s.kind.name == aheadByLink:
		return query.Has("cursor") || req.URL.Path == "/moved"
	}
	return true
}

// response returns a successful response, after which the client sends the request that reaches the
// silence.
func (s *silentPeer) response(req *http.Request) string {
	status, headers, body := "200 OK", "", tokenOfBoth
	switch {
	case req.URL.Path == oauthTokenPath || req.URL.Path == registryTokenPath:
	case s.kind.name == redirected:
		status, headers = "307 Temporary Redirect", "Location: /moved\r\n"
	case s.kind.name == aheadByPage:
		headers, body = "X-Next-Page: 2\r\nX-Page: 1\r\nX-Total-Pages: 9\r\n", `[{"id":1,"iid":1}]`
	case s.kind.name == aheadByLink:
		headers, body = "Link: <http://x/?cursor=abc>; rel=\"next\"\r\n", `[{"id":1,"iid":1}]`
	default:
		body = `[{"id":1}]`
	}
	return "HTTP/1.1 " + status + "\r\n" + headers + jsonType + "\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// silence sends the text and then nothing, and reads nothing until the call has ended.
func (s *silentPeer) silence(conn net.Conn, text string) {
	_, _ = io.WriteString(conn, text)
	s.fell.Do(func() { close(s.reached) })
	<-s.over
	_ = conn.SetReadDeadline(time.Now().Add(silencePatience))
	_, err := io.Copy(io.Discard, conn)
	s.ended(err)
}

func (s *silentPeer) ended(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.mu.Lock()
		s.open++
		s.mu.Unlock()
	}
}

// finish stops the server after the call, and returns the number of connections that are still
// open.
func (s *silentPeer) finish() int {
	close(s.over)
	_ = s.listener.Close()
	s.mu.Lock()
	s.last = time.Now().Add(silencePatience)
	for _, conn := range s.conns {
		_ = conn.SetReadDeadline(s.last)
	}
	s.mu.Unlock()
	s.running.Wait()
	return s.open
}
