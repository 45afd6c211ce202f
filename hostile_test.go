package forge

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// hostile is a server that sends what no honest one does, and the call that meets it.
type hostile struct {
	name  string
	limit uint64 // bytes that the client's process may grow by
	send  func(io.Writer, *http.Request)
	call  func(context.Context, *Client) error // nil: GetTimeStats
	want  error                                // nil: net/http's own, which has no name
	says  string                               // what the error's text names; empty: the call ends well
}

// Whatever a server sends, the call ends by itself, with an error that names the reason, and the memory of the process grows by a bounded
// amount. Each case is measured in a process of its own.
func TestHostileServers(t *testing.T) {
	if testing.Short() {
		t.Skip("moves gigabytes through loopback: left out with -short")
	}
	if raceEnabled {
		t.Skip("the race detector takes memory and time of its own: run without -race")
	}
	for _, test := range hostiles() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if !assert.NoError(t, err) {
				return
			}
			defer listener.Close()
			go serveHostile(listener, test.send)
			use := runChild(t, test.name, "http://"+listener.Addr().String())
			t.Logf("%s: heap %.1f MiB, resident %.1f MiB more than at the start", test.name, float64(use.heap)/mib, float64(use.grown)/mib)
			assert.Less(t, use.heap, test.limit, "bytes of heap")
			assert.Less(t, use.grown, test.limit, "bytes of resident memory")
		})
	}
}

// serveHostile answers one request on each connection, until the listener closes.
func serveHostile(listener net.Listener, send func(io.Writer, *http.Request)) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			for requests := bufio.NewReader(conn); ; {
				req, err := http.ReadRequest(requests)
				if err != nil {
					return
				}
				w := bufio.NewWriterSize(conn, 256<<10)
				send(w, req)
				if w.Flush() != nil || req.Header.Get("X-Again") == "" {
					return
				}
			}
		}()
	}
}

// run makes the hostile server's call and judges its end.
func (h hostile) run(ctx context.Context, client *Client) error {
	call := h.call
	if call == nil {
		call = timeStats
	}
	err := call(ctx, client)
	switch {
	case h.says == "":
		return err
	case err == nil:
		return errors.New("the call ended well")
	case h.want != nil && !errors.Is(err, h.want):
		return fmt.Errorf("want %w, got %w", h.want, err)
	case !strings.Contains(err.Error(), h.says):
		return fmt.Errorf("%q is not named: %w", h.says, err)
	case len(err.Error()) > 2*maxErrorText:
		return errors.New("the error's text is too long")
	}
	return nil
}

func timeStats(ctx context.Context, client *Client) error {
	_, err := client.Issues.GetTimeStats(ctx, ID(1), 1)
	return err
}

func listIssues(ctx context.Context, client *Client) error {
	_, err := Collect(client.Issues.List(ctx, nil))
	return err
}

const (
	okHead  = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	badHead = "HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\n"
	chunked = "Transfer-Encoding: chunked\r\n\r\n"
)

// endless sends the start, then a block again and again, up to size bytes.
func endless(start, block string, size int64) func(io.Writer, *http.Request) {
	return func(w io.Writer, _ *http.Request) {
		_, _ = io.WriteString(w, start)
		repeat(w, []byte(strings.Repeat(block, max(1, 64<<10/len(block)))), size)
	}
}

// zipped sends a gzip stream that becomes size spaces around a value.
func zipped(head string, size int64) func(io.Writer, *http.Request) {
	return func(w io.Writer, _ *http.Request) {
		var member bytes.Buffer
		z := gzip.NewWriter(&member)
		repeat(z, bytes.Repeat([]byte(" "), mib), 64*mib)
		_ = z.Close()
		_, _ = io.WriteString(w, head+"Content-Encoding: gzip\r\n\r\n")
		repeat(w, member.Bytes(), size/(64*mib)*int64(member.Len()))
	}
}

// nested sends depth openings and no more, with a value before them.
func nested(before, opening string, depth int) func(io.Writer, *http.Request) {
	return func(w io.Writer, _ *http.Request) {
		_, _ = io.WriteString(w, okHead+"Connection: close\r\n\r\n"+before+strings.Repeat(opening, depth))
	}
}

func hostiles() []hostile {
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat("x", 64<<10))
	foreign := func(ctx context.Context, client *Client) error {
		return client.Do(ctx, Call{Method: http.MethodGet, Route: "/thing"}, new(map[string]any))
	}
	return []hostile{
		{"endless error body", 48 * mib, endless(badHead+chunked, chunk, gib), nil, ErrForbidden, "403"},
		{"gzip bomb", 96 * mib, zipped(okHead, 10*gib), nil, ErrTooLarge, "MaxBytes"},
		{"gzip bomb as an error", 48 * mib, zipped(badHead, 10*gib), nil, ErrForbidden, "403"},
		{"string of 1 GiB", 96 * mib, endless(okHead+`Connection: close`+"\r\n\r\n"+`{"title":"`, "a", gib), nil, ErrTooLarge, "MaxBytes"},
		{"string of 1 GiB as an error", 48 * mib, endless(badHead+`Connection: close`+"\r\n\r\n"+`{"message":"`, "a", gib), nil, ErrForbidden, "403"},
		{"values after the value", 96 * mib, endless(okHead+"Connection: close\r\n\r\n{}", "{}", gib), nil, ErrTooLarge, "MaxBytes"},
		{"white space after the value", 96 * mib, endless(okHead+"Connection: close\r\n\r\n{}", " ", 16*mib), nil, ErrAnswer, "white space"},
		{"headers of 2 MiB", 48 * mib, endless(okHead+"X-Long: ", "x", 2*mib), nil, nil, "headers exceeded"},
		{"endless header lines", 48 * mib, endless(okHead, "X-More: x\r\n", gib), nil, nil, "headers exceeded"},
		{"endless trailers", 48 * mib, endless(okHead+chunked+"2\r\n{}\r\n0\r\n", "X-More: x\r\n", gib), nil, nil, "trailer"},
		{"endless informational answers", 48 * mib, endless("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", gib), nil, nil, "headers exceeded"},
		{"chunks of 1 byte", 48 * mib, endless(okHead+chunked, "1\r\n \r\n", gib), func(ctx context.Context, client *Client) error {
			_, err := client.Issues.GetTimeStats(ctx, ID(1), 1, MaxBytes(mib))
			return err
		}, ErrTooLarge, "MaxBytes"},
		{"chunks with long extensions", 48 * mib, endless(okHead+chunked, "1;"+strings.Repeat("x", 1024)+"\r\n \r\n", gib), nil, nil, "non-data"},
		{"100,000 levels in a list", 48 * mib, nested("", "[", 100_000), listIssues, ErrAnswer, "nested"},
		{"100,000 levels in an unknown member", 48 * mib, nested("", `{"a":`, 100_000), nil, ErrAnswer, "nested"},
		{"100,000 levels in a caller's type", 48 * mib, nested("", `{"a":[`, 100_000), foreign, ErrAnswer, "nested"},
		{"100,000 levels in an error", 48 * mib, func(w io.Writer, _ *http.Request) {
			_, _ = io.WriteString(w, badHead+"Connection: close\r\n\r\n"+strings.Repeat(`{"message":`, 100_000))
		}, nil, ErrForbidden, "403"},
		{"a page of empty items", 400 * mib, func(w io.Writer, _ *http.Request) {
			_, _ = io.WriteString(w, okHead+"Connection: close\r\n\r\n[{}")
			repeat(w, []byte(strings.Repeat(",{}", 10_000)), 31*mib/30_000*30_000)
			_, _ = io.WriteString(w, "]")
		}, listIssues, ErrTooLarge, "items"},
		{"pages without end", 48 * mib, endlessPages, walkPages(20_000), nil, ""},
		{"pages without end, read ahead", 48 * mib, endlessPages, walkPages(20_000, Ahead(8)), nil, ""},
		{"a link of 200 KiB", 48 * mib, func(w io.Writer, _ *http.Request) {
			_, _ = io.WriteString(w, okHead+`Link: <https://x/?page=2&x=`+strings.Repeat("y", 200<<10)+">; rel=next\r\nContent-Length: 2\r\n\r\n[]")
		}, listIssues, ErrAnswer, "longer than 64 KiB"},
	}
}

// endlessPages is a list of which every page names a next one.
func endlessPages(w io.Writer, req *http.Request) {
	page := queryInt(req.URL.Query(), "page", 1)
	req.Header.Set("X-Again", "1")
	_, _ = fmt.Fprintf(w, "%sLink: <https://x/?page=%d>; rel=next\r\nContent-Length: 10\r\n\r\n[{\"id\":1}]", okHead, page+1)
}

// walkPages reads so many pages and leaves.
func walkPages(pages int, opts ...RequestOption) func(context.Context, *Client) error {
	return func(ctx context.Context, client *Client) error {
		n := 0
		for _, err := range client.Issues.List(ctx, nil, append(opts, PerPage(1))...) {
			if n++; err != nil || n == pages {
				return err
			}
		}
		return fmt.Errorf("the list ended after %d items", n)
	}
}

// A server that drips is not silent, so only the caller's context ends the call; it does at once.
func TestDrip(t *testing.T) {
	w := newWire(t, always(func(conn net.Conn) bool {
		_, _ = io.WriteString(conn, okHead+"\r\n")
		for {
			if _, err := io.WriteString(conn, " "); err != nil {
				return false
			}
			time.Sleep(time.Millisecond)
		}
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := timeStats(ctx, wireClient(t, w.url))
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, 1, asError(t, err).Attempts)
}
