// Package http2 tests the client over HTTP/2, against a server that writes frames by hand.
package http2

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	forge "github.com/forge-sdk/forge-go"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seen is a request as the peer has parsed it. conn counts connections from 1, number counts all
// requests.
type seen struct {
	method, path string
	body         []byte
	stream       uint32
	conn, number int
}

// peer is an HTTP/2 server that responds to each request with the frames of the test.
type peer struct {
	*testing.T
	url    string
	roots  *x509.CertPool
	answer func(*conn, seen)

	listener net.Listener
	running  sync.WaitGroup
	mu       sync.Mutex
	requests []seen
	conns    []net.Conn
	closed   bool
}

// conn is one connection of a peer.
type conn struct {
	net.Conn
	*http2.Framer
	number int
}

func newPeer(t *testing.T, answer func(*conn, seen)) *peer {
	t.Helper()
	authority := httptest.NewTLSServer(nil)
	defer authority.Close()
	p := &peer{T: t, answer: answer, roots: x509.NewCertPool()}
	p.roots.AddCert(authority.Certificate())
	var err error
	p.listener, err = tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: authority.TLS.Certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	require.NoError(t, err)
	p.url = "https://" + p.listener.Addr().String()
	p.running.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

func (p *peer) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.conns = append(p.conns, c)
		number := len(p.conns)
		if p.closed { // close was called before this connection was recorded
			_ = c.Close()
		}
		p.mu.Unlock()
		p.running.Go(func() { p.serve(c, number) })
	}
}

func (p *peer) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

func (p *peer) serve(raw net.Conn, number int) {
	defer func() { _ = raw.Close() }()
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(raw, preface); err != nil || string(preface) != http2.ClientPreface {
		return
	}
	c := &conn{Conn: raw, Framer: http2.NewFramer(raw, raw), number: number}
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = c.WriteSettings()
	open := map[uint32]*seen{}
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			return
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = c.WriteSettingsAck()
			}
		case *http2.PingFrame:
			_ = c.WritePing(true, f.Data)
		case *http2.MetaHeadersFrame:
			open[f.StreamID] = &seen{method: f.PseudoValue("method"), path: f.PseudoValue("path"), stream: f.StreamID, conn: number}
			if f.StreamEnded() {
				p.take(c, *open[f.StreamID])
			}
		case *http2.DataFrame:
			s := open[f.StreamID]
			s.body = append(s.body, f.Data()...)
			if n := uint32(len(f.Data())); n > 0 {
				_ = c.WriteWindowUpdate(0, n)
				_ = c.WriteWindowUpdate(f.StreamID, n)
			}
			if f.StreamEnded() {
				p.take(c, *s)
			}
		}
	}
}

func (p *peer) take(c *conn, s seen) {
	p.mu.Lock()
	s.number = len(p.requests) + 1
	p.requests = append(p.requests, s)
	p.mu.Unlock()
	p.answer(c, s)
}

// got lists the requests so far.
func (p *peer) got() []seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// client returns an HTTP/2 client of the peer. (net/http disables HTTP/2 for a transport with its
// own TLS configuration.)
func (p *peer) client() *forge.Client {
	p.Helper()
	c, err := forge.NewClient(p.url, forge.WithToken("token-0123456789"),
		forge.WithHTTPClient(&http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: p.roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
		}}),
		forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}))
	require.NoError(p, err)
	p.Cleanup(c.CloseIdleConnections)
	return c
}

// header begins a response with a Content-Length of the given length.
func (c *conn) header(stream uint32, contentType string, length int) {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, field := range [][2]string{{":status", "200"}, {"content-type", contentType}, {"content-length", fmt.Sprint(length)}} {
		_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true})
}

// say responds with JSON.
func (c *conn) say(stream uint32, body string) {
	c.header(stream, "application/json", len(body))
	_ = c.WriteData(stream, true, []byte(body))
}
