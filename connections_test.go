package forge

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A connection can be reused after a body of up to 128 KiB that the client does not use. Examples
// are error pages, a page instead of JSON, the body of a redirect, the unused result of a write, the
// refusal of a token endpoint, and a response of HTTPClient that is retried.
func TestUnusedBodiesKeepTheConnection(t *testing.T) {
	for _, size := range []int{0, 4 << 10, 4<<10 + 1, 64<<10 - 1, 64 << 10, 64<<10 + 14, 128 << 10} {
		body := strings.Repeat("x", size)
		for name, response := range map[string]struct {
			status  int
			headers []string
		}{
			"error": {http.StatusForbidden, []string{"Content-Type: text/plain"}}, "error page": {http.StatusNotFound, []string{"Content-Type: text/html"}},
			"retried": {http.StatusServiceUnavailable, []string{"Content-Type: text/plain"}}, "conflict": {http.StatusConflict, []string{jsonType}},
			"unexpected status": {http.StatusNonAuthoritativeInfo, []string{jsonType}}, "page not JSON": {http.StatusOK, []string{"Content-Type: text/html"}},
			"page without a type": {http.StatusBadGateway, nil}, "refused redirect": {http.StatusFound, []string{"Location: http://other.example.com/api/v4"}},
			"unused value": {http.StatusOK, []string{jsonType}},
		} {
			chunks := append([]string{fmt.Sprintf("HTTP/1.1 %d X", response.status), "Transfer-Encoding: chunked"}, response.headers...)
			chunked := strings.Join(chunks, "\r\n") + fmt.Sprintf("\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", size, body)
			if size == 0 {
				chunked = strings.Replace(chunked, "0\r\n\r\n", "", 1)
			}
			for coding, answer := range map[string]act{"": say(response.status, body, response.headers...), "in chunks": keeping(chunked)} {
				t.Run(fmt.Sprint(name, " of ", size, coding), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := pipedWire(t, always(answer))
						c := w.client(t)
						for range 3 {
							err := c.Do(t.Context(), callOf(RetryClassSafe), nil)
							assert.Equal(t, name == "unused value", err == nil, "%v", err)
							resp, err := c.HTTPClient().Get(w.url + "/api/v4/x")
							if err == nil {
								_, err = io.Copy(io.Discard, resp.Body)
							}
							assert.Equal(t, name != "refused redirect", err == nil, "%v", err)
						}
						assert.Equal(t, 1, w.accepted(), "connections")
					})
				})
			}
		}
	}
}

// An error that does not depend on its body is returned even if the body does not arrive.
func TestSilenceAfterTheResult(t *testing.T) {
	const head = "HTTP/1.1 %d Status\r\nContent-Length: %d\r\nContent-Type: %s\r\nLocation: https://other.example.com/\r\n\r\n"
	for name, row := range map[string]struct {
		head string
		want error
	}{
		"unexpected status": {fmt.Sprintf(head, 206, 100, "application/json"), ErrInvalidResponse},
		"page not JSON":     {fmt.Sprintf(head, 200, 100, "text/html"), ErrInvalidResponse},
		"too large":         {fmt.Sprintf(head, 200, 1<<30, "application/json"), ErrResponseTooLarge},
		"refused redirect":  {fmt.Sprintf(head, 302, 100, "text/html"), ErrRedirect},
		"error":             {fmt.Sprintf(head, 404, 100, "application/json"), ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := pipedWire(t, always(silent(row.head)))
				err := w.client(t).Do(t.Context(), callOf(RetryClassSafe), new(TimeStats))
				require.ErrorIs(t, err, row.want)
				require.NotErrorIs(t, err, ErrTimeout)
				assert.Len(t, w.seen(), 1)
			})
		})
	}
}

// The time that the caller's code takes between two hops does not count as silence of the server.
func TestSlowFileAfterRedirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := pipedWire(t, script(say(http.StatusTemporaryRedirect, "moved", "Location: /moved"), say(http.StatusCreated, `{"id":1}`, jsonType)))
		file := File{Name: "a", Size: 1, Open: func() (io.ReadCloser, error) {
			time.Sleep(time.Hour)
			return io.NopCloser(strings.NewReader("x")), nil
		}}
		_, err := w.client(t).SecureFiles.Upload(t.Context(), ID(1), &UploadSecureFileOptions{Name: "a", File: file})
		require.NoError(t, err)
	})
}

// A 417 refuses the Expect header and not the request (RFC 9110 §10.1.1): the call is sent again
// once without the header. A second 417 is an error.
func TestExpectationFailed(t *testing.T) { synctest.Test(t, expectationFailed) }

func expectationFailed(t *testing.T) {
	upload := func(c *Client, file File) error {
		_, err := c.SecureFiles.Upload(t.Context(), ID(1), &UploadSecureFileOptions{Name: "big", File: file})
		return err
	}
	large := FileBytes(make([]byte, 64<<10+1))
	refuse := func(s seen) act {
		if s.header.Get("Expect") != "" {
			return closing("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		}
		return say(201, `{"id":1}`, jsonType)
	}
	w := pipedWire(t, refuse)
	require.NoError(t, upload(w.client(t, WithRetry(RetryPolicy{MaxAttempts: 1})), large), "it does not count for MaxAttempts")
	sent := w.seen()
	require.Len(t, sent, 2)
	assert.Empty(t, sent[1].header.Get("Expect"))
	assert.Len(t, sent[1].body, len(sent[0].body))

	busy := pipedWire(t, func(s seen) act {
		if s.conn == 2 && s.nth == 1 {
			return say(429, "", "Retry-After: 1")
		}
		return refuse(s)
	})
	require.NoError(t, upload(busy.client(t, WithRetry(RetryPolicy{MaxAttempts: 2})), large), "nor for a later retry")

	stubborn := pipedWire(t, always(closing("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")))
	err := upload(stubborn.client(t), large)
	assert.Equal(t, 2, asError(t, err).Attempts)
	assert.Equal(t, http.StatusExpectationFailed, asError(t, err).Status)
	err = upload(stubborn.client(t), FileBytes([]byte("small")))
	assert.Equal(t, 1, asError(t, err).Attempts, "the request had no Expect header")
	err = upload(pipedWire(t, refuse).client(t), FileReader(strings.NewReader(strings.Repeat("x", 64<<10+1)), 64<<10+1))
	assert.Equal(t, http.StatusExpectationFailed, asError(t, err).Status, "a reader is sent once")
}

// The client gets the response of a server that refuses a large upload and immediately closes the
// connection, because the body waits until the server requests it. Otherwise a reset during the
// upload would sometimes lose the response to a broken pipe.
func TestUploadRefusedEarly(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				assert.Equal(t, "100-continue", req.Header.Get("Expect"))
				_, _ = conn.Write([]byte("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
			}
			_ = conn.Close() // a reset, if unread bytes of the body have arrived
		}
	}()
	c := wireClient(t, "http://"+listener.Addr().String(), WithHTTPClient(&http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Hour}}))
	content := bytes.Repeat([]byte("x"), 4<<20)
	for range 200 {
		_, err := c.SecureFiles.Upload(t.Context(), ID(1), &UploadSecureFileOptions{Name: "big", File: FileBytes(content)})
		var failed *Error
		require.ErrorAs(t, err, &failed)
		require.Equal(t, http.StatusRequestEntityTooLarge, failed.Status, err)
		require.Equal(t, 1, failed.Attempts)
		require.False(t, failed.MaybeApplied)
	}
}

// Over HTTP/2 a large body is sent immediately.
func TestUploadOverHTTP2DoesNotWait(t *testing.T) {
	for _, second := range []bool{false, true} {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, second, r.ProtoMajor == 2)
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":1}`)
		}))
		srv.EnableHTTP2 = second
		srv.StartTLS()
		defer srv.Close()
		c := wireClient(t, srv.URL, WithHTTPClient(&http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: srv.Client().Transport.(*http.Transport).TLSClientConfig}}))
		waited := false
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Wait100Continue: func() { waited = true }})
		_, err := c.SecureFiles.Upload(ctx, ID(1), &UploadSecureFileOptions{Name: "big", File: FileBytes(make([]byte, 1<<20))})
		require.NoError(t, err)
		assert.Equal(t, !second, waited)
	}
}

// The error names a proxy that does not connect. The call is retried if a retry can succeed, for
// every class, since nothing was sent.
func TestTunnelRefused(t *testing.T) {
	for _, test := range []struct {
		status, attempts int
		says             string
	}{
		{407, 1, "the proxy responded with 407 Proxy Authentication Required: check the user and password"},
		{403, 1, "the proxy responded with 403 Forbidden"},
		{429, 4, "the proxy responded with 429 Too Many Requests"},
		{502, 4, "the proxy responded with 502 Bad Gateway"},
	} {
		proxy := newWire(t, always(say(test.status, "", jsonType)))
		address, err := url.Parse(proxy.url)
		require.NoError(t, err)
		c := wireClient(t, "https://forge.example.com", WithHTTPClient(&http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address)}}))
		err = c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil)
		var failed *Error
		require.ErrorAs(t, err, &failed)
		assert.ErrorContains(t, err, test.says)
		assert.Equal(t, test.attempts, failed.Attempts)
		assert.False(t, failed.MaybeApplied)
		assert.Zero(t, failed.Status)
		assert.Len(t, proxy.seen(), test.attempts)
	}
}

// Concurrent calls, also those of HTTPClient, open one connection for each goroutine, and later calls reuse them. Each request
// takes a second, so that all goroutines send at the same time.
func TestConnections(t *testing.T) {
	const n = 512
	synctest.Test(t, func(t *testing.T) {
		w := pipedWire(t, always(func(conn net.Conn) bool {
			time.Sleep(time.Second)
			return sayJSON(`{"id":1}`)(conn)
		}))
		c := w.client(t)
		for range 2 {
			var running sync.WaitGroup
			for range n {
				running.Go(func() {
					for range 2 {
						assert.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
						_, text, err := send(t.Context(), c.HTTPClient(), http.MethodPut, w.url, "content")
						assert.Equal(t, `{"id":1}`, text, err)
					}
				})
			}
			running.Wait()
			assert.Equal(t, n, w.accepted())
		}
	})
}

// An Expect header of the caller stays, so a second 417 is the response.
func TestExpectOfTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := pipedWire(t, always(say(417, "")))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/api/v4/x", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Expect", "100-continue")
		resp, err := w.client(t).HTTPClient().Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, 417, resp.StatusCode)
		assert.Len(t, w.seen(), 2)
	})
}
