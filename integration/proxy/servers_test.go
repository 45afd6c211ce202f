package proxy

import (
	"bufio"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// server is an API with a name that only the proxy can resolve. It counts the effects of calls.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	headers []http.Header
	writes  int
}

func newServer(t *testing.T, start func(*httptest.Server)) *server {
	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.headers = append(s.headers, r.Header.Clone())
		if r.Method == http.MethodPost {
			s.writes++
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	start(s.Server)
	t.Cleanup(s.Close)
	return s
}

func (s *server) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// forward is a proxy that resolves every name to one address. It records every byte that clients
// send.
type forward struct {
	url      string // with user and password
	target   string
	listener net.Listener
	refuse   string // the status line instead of a connection

	mu       sync.Mutex
	asked    []*http.Request
	received strings.Builder
	running  sync.WaitGroup
}

func newForward(t *testing.T, target net.Addr, refuse string) *forward {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &forward{url: "http://user:" + password + "@" + listener.Addr().String(), target: target.String(), listener: listener, refuse: refuse}
	f.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			f.running.Go(func() { f.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		f.running.Wait()
	})
	return f
}

// Write records what a client has sent.
func (f *forward) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.received.Write(p)
}

// seen returns the requests, tunnels included, and all bytes.
func (f *forward) seen() ([]*http.Request, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked, f.received.String()
}

func (f *forward) serve(client net.Conn) {
	defer client.Close()
	r := bufio.NewReader(io.TeeReader(client, f))
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		f.mu.Lock()
		f.asked = append(f.asked, req)
		f.mu.Unlock()
		if f.refuse != "" {
			_, _ = io.WriteString(client, "HTTP/1.1 "+f.refuse+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			return
		}
		server, err := net.Dial("tcp", f.target)
		if err != nil {
			return
		}
		defer server.Close()
		if req.Method == http.MethodConnect {
			_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
			f.running.Go(func() {
				_, _ = io.Copy(server, r)
				_ = server.Close()
			})
			_, _ = io.Copy(client, server)
			return
		}
		if !f.pass(client, server, req) {
			return
		}
	}
}

// pass forwards one plain request without the headers for the proxy, and returns the response to
// the client.
func (f *forward) pass(client, server net.Conn, req *http.Request) bool {
	own := req.Clone(req.Context())
	own.Header.Del("Proxy-Authorization")
	if own.Write(server) != nil {
		return false
	}
	answer, err := http.ReadResponse(bufio.NewReader(server), own)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.Write(client) == nil
}
