package forge

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A server that refuses a large upload and closes the connection at once is heard: the body waits until it is asked for. A reset
// under a body that is being sent would lose the answer, now and then, to a broken pipe.
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
			_ = conn.Close() // a reset, where bytes of the body have come that nobody has read
		}
	}()
	c := wireClient(t, "http://"+listener.Addr().String())
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

// Small bodies are not worth another round trip.
func TestUploadSmallDoesNotWait(t *testing.T) {
	w := newWire(t, always(sayJSON(`{"id":1}`)))
	_, err := wireClient(t, w.url).SecureFiles.Upload(t.Context(), ID(1), &UploadSecureFileOptions{Name: "small", File: FileBytes([]byte("x"))})
	require.NoError(t, err)
	assert.Empty(t, w.seen()[0].header.Get("Expect"))
}

// Over HTTP/2 a large body goes out at once.
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
