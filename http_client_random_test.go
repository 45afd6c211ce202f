package forge

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/conn"
)

// echoServer is a server that records requests, and responds as the current trial says.
type echoServer struct {
	mu    sync.Mutex
	trial *rawTrial
	got   []string
}

// rawTrial is a random request with the response to it.
type rawTrial struct {
	method, target string
	header         http.Header
	body           []byte
	form           int // of the body: see request
	close, chunked bool
	status, pieces int
	response       http.Header
	content        []byte
	early          bool   // a 103 comes first
	trailer        string // "": none, else announced or silent
}

func (e *echoServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	tr := e.trial // the next one may begin before the handler ends
	e.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	header := r.Header.Clone()
	header.Del("Private-Token")
	header.Del("Expect") // of the client, for a large body
	if tr.header.Get("User-Agent") == "" {
		header.Del("User-Agent")
	}
	e.mu.Lock()
	e.got = append(e.got, fmt.Sprint(r.Method, " ", r.RequestURI, " ", r.Host, " ", r.Proto, header, r.TransferEncoding, r.ContentLength, r.Close, len(body), err, "\n", string(body)))
	e.mu.Unlock()
	if tr.early {
		w.Header().Set("Link", "</style.css>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
	}
	for name, values := range tr.response {
		w.Header()[name] = values
	}
	w.Header()["Date"] = nil
	if tr.trailer == "announced" {
		w.Header().Set("Trailer", "X-Sum")
	}
	w.WriteHeader(tr.status)
	for piece := range slices.Chunk(tr.content, 1+len(tr.content)/tr.pieces) {
		_, _ = w.Write(piece)
		if tr.pieces > 1 {
			_ = http.NewResponseController(w).Flush()
		}
	}
	switch tr.trailer {
	case "announced":
		w.Header().Set("X-Sum", "1")
	case "silent":
		w.Header().Set(http.TrailerPrefix+"X-Sum", "2")
	}
}

// newRawTrial draws a request and a response.
func newRawTrial(r *rand.Rand) *rawTrial {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	t := &rawTrial{
		method: pick("GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", ""),
		target: pick("/", "", "/api/v4/user", "/api/v4/projects/a%2Fb/issues", "/api/v4", "/api/graphql", "//double", "/a/../b", "/%C3%BC%20x", "/a+b;c=d", "/a*b(c)") +
			pick("", "", "?", "?a=1&b=2", "?a=1;b=2", "?x=%zz", "?q=%2F+%20", "?labels[]=a&labels[]=b", "?é"),
		header: http.Header{}, response: http.Header{},
		form: r.IntN(8), close: r.IntN(8) == 0, chunked: r.IntN(8) == 0,
		body:  bytes.Repeat([]byte("body "), []int{1, 100, 40_000}[r.IntN(3)]),
		early: r.IntN(4) == 0, trailer: pick("", "", "announced", "silent"),
		pieces: 1 + r.IntN(4),
	}
	for range r.IntN(6) {
		name := pick("Accept", "Accept-Encoding", "Range", "Content-Type", "If-None-Match", "X-Mine", "x-lower", "User-Agent", "Private-Token", "Connection", "Referer", "Te", "Content-Length", "Transfer-Encoding")
		t.header[name] = [][]string{{"gzip"}, {"identity"}, {"bytes=0-9"}, {"a", "b"}, {"keep-alive"}, {}}[r.IntN(6)]
		if name == "Private-Token" {
			t.header[name] = [][]string{{""}, {}, {"", ""}, nil}[r.IntN(4)]
		}
	}
	t.status = []int{200, 200, 201, 202, 204, 205, 206, 299, 300, 304, 305, 306, 400, 401, 404, 409, 412, 416, 416, 418, 429, 499, 500, 501, 503, 599}[r.IntN(26)]
	t.content = bytes.Repeat([]byte("content "), []int{0, 1, 10, 20_000}[r.IntN(4)])
	if r.IntN(3) == 0 && len(t.content) > 0 {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(t.content)
		_ = w.Close()
		t.content = b.Bytes()
		t.response.Set("Content-Encoding", pick("gzip", "gzip", "GZIP", "br"))
	}
	if r.IntN(3) == 0 && t.status != 204 && t.status != 304 && t.trailer == "" {
		t.response.Set("Content-Length", fmt.Sprint(len(t.content)+[]int{0, 0, 5}[r.IntN(3)]))
	}
	for range r.IntN(4) {
		t.response[pick("X-Many", "Etag", "Set-Cookie", "Location", "Content-Type", "Retry-After", "Www-Authenticate")] = [][]string{{"a", "b"}, {""}, {"1"}}[r.IntN(3)]
	}
	return t
}

// plain hides the type of a reader, so that http.NewRequest knows neither its size nor a copy.
type plain struct{ io.Reader }

func (tr *rawTrial) request(t *testing.T, base string) *http.Request {
	t.Helper()
	var body io.Reader
	switch tr.form {
	case 0, 1, 2, 3:
	case 4:
		body = http.NoBody
	case 5:
		body = bytes.NewReader(tr.body)
	default:
		body = plain{bytes.NewReader(tr.body)}
	}
	req, err := http.NewRequestWithContext(t.Context(), tr.method, base, body)
	require.NoError(t, err)
	req.URL, err = url.Parse(base + tr.target)
	require.NoError(t, err)
	switch tr.form {
	case 6:
		req.ContentLength = int64(len(tr.body))
	case 7:
		req.ContentLength = -1
	}
	req.Header, req.Close = tr.header.Clone(), tr.close
	if tr.chunked && tr.form > 4 {
		req.TransferEncoding = []string{"chunked"}
	}
	return req
}

// describe sends the request, and returns all that the caller gets.
func (tr *rawTrial) describe(t *testing.T, transport http.RoundTripper, base string) string {
	t.Helper()
	req, hints := tr.request(t, base), ""
	req = req.WithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
			if code != http.StatusContinue { // of a large body
				hints += fmt.Sprint(code, h)
			}
			return nil
		},
	}))
	before := fmt.Sprintf("%+v%v%v%v", req.Header, req.URL, req.ContentLength, req.TransferEncoding)
	resp, err := transport.RoundTrip(req)
	assert.Equal(t, before, fmt.Sprintf("%+v%v%v%v", req.Header, req.URL, req.ContentLength, req.TransferEncoding), "the request has changed")
	if err != nil {
		return "error"
	}
	defer resp.Body.Close()
	resp.Header.Del("Date")
	announced := len(resp.Trailer)
	if tr.status == http.StatusBadRequest || tr.status == http.StatusConflict {
		announced = 0 // the transport has read the body, and its trailer
	}
	content, err := io.ReadAll(resp.Body)
	_, again := resp.Body.Read(make([]byte, 1))
	return fmt.Sprint(hints, resp.Status, resp.StatusCode, resp.Proto, resp.ProtoMajor, resp.ProtoMinor, resp.Header, resp.ContentLength, resp.TransferEncoding, resp.Close,
		resp.Uncompressed, announced, resp.Trailer, resp.TLS != nil, resp.Request.Method, resp.Request.URL, resp.Request.Header,
		errors.Is(err, io.ErrUnexpectedEOF), err == nil, again == io.EOF, len(content), "\n", string(content))
}

// The server receives the same request, and the caller the same response, as with net/http alone;
// apart from the credential, the User-Agent, and the Expect of a large body. With FORGE_LONG=1 there are 700
// random exchanges instead of 200.
func TestHTTPClientIsTransparent(t *testing.T) {
	exchanges := 200
	if longForm() {
		exchanges = 700
	}
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(protocol, func(t *testing.T) {
			e := &echoServer{}
			srv := httptest.NewUnstartedServer(e)
			srv.EnableHTTP2 = protocol == "HTTP/2.0"
			srv.StartTLS()
			t.Cleanup(srv.Close)
			roots := x509.NewCertPool()
			roots.AddCert(srv.Certificate())
			alone := conn.Transport(&http.Transport{
				TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: srv.EnableHTTP2})
			t.Cleanup(alone.CloseIdleConnections)
			c := wireClient(t, srv.URL, WithHTTPClient(&http.Client{Transport: alone}))
			random := rand.New(rand.NewPCG(5, 6))
			responses := 0
			for i := range exchanges {
				e.mu.Lock()
				e.trial, e.got = newRawTrial(random), nil
				e.mu.Unlock()
				want := e.trial.describe(t, alone, srv.URL)
				transport := c.HTTPClient(Retry(RetryPolicy{MaxAttempts: 1})).Transport
				if got := e.trial.describe(t, transport, srv.URL); got != want {
					e.trial.content, e.trial.body = nil, nil
					require.Equal(t, cut(want), cut(got), "%d: %+v", i, e.trial)
				}
				if want == "error" {
					continue
				}
				responses++
				if len(e.got) == 0 { // net/http's server has refused both
					continue
				}
				if len(e.got) != 2 {
					e.trial.content, e.trial.body = nil, nil

					require.Len(t, e.got, 2, "%d: %+v", i, e.trial)
				}
				if e.got[0] != e.got[1] {
					e.trial.content, e.trial.body = nil, nil
					require.Equal(t, cut(e.got[0]), cut(e.got[1]), "%d: %+v", i, e.trial)
				}
			}
			assert.Greater(t, responses, exchanges*2/3)
		})
	}
}

// cut shortens a text for a message.
func cut(s string) string { return s[:min(len(s), 1000)] }
