package forge

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the client does not use of a body costs no connection, as long as no more than 64 KiB of it
// are left: error pages, a page instead of JSON, a redirect's body, the result of a write that
// wants none, a token that the endpoint refuses.
func TestUnusedBodiesKeepTheConnection(t *testing.T) {
	for _, size := range []int{0, 4 << 10, 4<<10 + 1, 64<<10 - 1, 64 << 10, 64<<10 + 14, 127 << 10} {
		body := strings.Repeat("x", size)
		for name, answer := range map[string]act{
			"error":             say(http.StatusForbidden, body, "Content-Type: text/plain"),
			"error page":        say(http.StatusNotFound, body, "Content-Type: text/html"),
			"unexpected status": say(http.StatusNonAuthoritativeInfo, body[:min(size, drainBytes)], jsonType),
			"page not JSON":     say(http.StatusOK, body[:min(size, drainBytes)], "Content-Type: text/html"),
			"refused redirect":  say(http.StatusFound, body[:min(size, drainBytes)], "Location: http://other.example.com/"),
			"unused value":      say(http.StatusOK, body[:min(size, drainBytes)], jsonType),
		} {
			t.Run(fmt.Sprint(name, " of ", size), func(t *testing.T) {
				w := newWire(t, always(answer))
				c := wireClient(t, w.url)
				for range 5 {
					err := c.Do(t.Context(), callOf(safe), nil)
					assert.Equal(t, name == "unused value", err == nil, "%v", err)
				}
				require.Len(t, w.seen(), 5)
				assert.Equal(t, 1, w.accepted(), "connections")
			})
		}
	}
}

// An error that is certain without its body stays what it is if that body does not come.
func TestSilenceAfterTheResult(t *testing.T) {
	const head = "HTTP/1.1 %d Status\r\nContent-Length: %d\r\nContent-Type: %s\r\nLocation: https://other.example.com/\r\n\r\n"
	for name, row := range map[string]struct {
		head string
		want error
	}{
		"unexpected status": {fmt.Sprintf(head, 206, 100, "application/json"), ErrAnswer},
		"page not JSON":     {fmt.Sprintf(head, 200, 100, "text/html"), ErrAnswer},
		"too large":         {fmt.Sprintf(head, 200, 1<<30, "application/json"), ErrTooLarge},
		"refused redirect":  {fmt.Sprintf(head, 302, 100, "text/html"), ErrRedirect},
		"error":             {fmt.Sprintf(head, 404, 100, "application/json"), ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, always(silent(row.head)))
			err := withLimits(wireClient(t, w.url), time.Minute, 50*time.Millisecond).Do(t.Context(), callOf(safe), new(TimeStats))
			require.ErrorIs(t, err, row.want)
			require.NotErrorIs(t, err, ErrTimeout)
			assert.Len(t, w.seen(), 1)
		})
	}
}

// The time that the caller's code takes between two hops is not the server's silence.
func TestSlowFileAfterRedirect(t *testing.T) {
	w := newWire(t, script(say(http.StatusTemporaryRedirect, "moved", "Location: /moved"), say(http.StatusCreated, `{"id":1}`, jsonType)))
	c := withLimits(wireClient(t, w.url), time.Minute, 50*time.Millisecond)
	file := File{Name: "a", Size: 1, Open: func() (io.ReadCloser, error) {
		time.Sleep(150 * time.Millisecond)
		return io.NopCloser(strings.NewReader("x")), nil
	}}
	_, err := c.SecureFiles.Upload(t.Context(), ID(1), &UploadSecureFileOptions{Name: "a", File: file})
	require.NoError(t, err)
}

// A 417 refuses the Expect header and not the request (RFC 9110 §10.1.1): the call is sent once more
// without it. Another 417 is an error.
func TestExpectationFailed(t *testing.T) {
	upload := func(c *Client, file File) error {
		_, err := c.SecureFiles.Upload(t.Context(), ID(1), &UploadSecureFileOptions{Name: "big", File: file})
		return err
	}
	large := FileBytes(make([]byte, expectAbove+1))
	refuse := func(s seen) act {
		if s.header.Get("Expect") != "" {
			return closing("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		}
		return say(201, `{"id":1}`, jsonType)
	}
	w := newWire(t, refuse)
	require.NoError(t, upload(wireClient(t, w.url), large))
	sent := w.seen()
	require.Len(t, sent, 2)
	assert.Empty(t, sent[1].header.Get("Expect"))
	assert.Len(t, sent[1].body, len(sent[0].body))

	stubborn := newWire(t, always(closing("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")))
	err := upload(wireClient(t, stubborn.url), large)
	assert.Equal(t, 2, asError(t, err).Attempts)
	assert.Equal(t, http.StatusExpectationFailed, asError(t, err).Status)
	err = upload(wireClient(t, stubborn.url), FileBytes([]byte("small")))
	assert.Equal(t, 1, asError(t, err).Attempts, "it had no Expect")
	err = upload(wireClient(t, newWire(t, refuse).url), FileReader(strings.NewReader(strings.Repeat("x", expectAbove+1)), expectAbove+1))
	assert.Equal(t, http.StatusExpectationFailed, asError(t, err).Status, "a reader is sent once")
}
