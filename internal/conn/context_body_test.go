package conn

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A Reader ends after the given number of bytes, which can be increased, and counts the bytes that
// it has read.
func TestReader(t *testing.T) {
	c := newContext(t.Context(), time.Minute, time.Minute)
	r := c.Reader(strings.NewReader("0123456789"), 4)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "0123", string(text))
	assert.Zero(t, r.Left)
	r.Left = 100
	text, err = io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "456789", string(text))
	assert.EqualValues(t, 94, r.Left)
	assert.Equal(t, 10, c.Counter.(*count).bytes)
}

// A read that takes too long ends the attempt. The time after Pause and before the next read does
// not count.
func TestReaderTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newContext(t.Context(), time.Minute, time.Minute)
		pause := time.Duration(0)
		r := c.Reader(readFunc(func([]byte) (int, error) { time.Sleep(pause); return 1, nil }), 100)
		for _, pause = range []time.Duration{0, time.Minute - 1} {
			_, err := r.Read(make([]byte, 1))
			require.NoError(t, err)
			c.Pause()
			time.Sleep(time.Hour)
			require.NoError(t, c.Err())
		}
		pause = time.Minute
		_, err := r.Read(make([]byte, 1))
		require.NoError(t, err)
		c.Pause()
		require.ErrorIs(t, c.TimeoutCause(nil), errTest)
		require.EqualError(t, c.TimeoutCause(nil), "the connection stalled for 1m0s")
	})
}

// While the body is read, the server has no time limit. Then it must read the bytes and, after the
// last one, respond within the limits.
func TestUploadTimeout(t *testing.T) {
	for name, test := range map[string]struct {
		reads int
		size  int64
		err   error
		fails string
	}{
		"the server takes no bytes": {1, 2, nil, "the connection stalled for 1m0s"},
		"the server is silent":      {2, 2, nil, "no response within 10s"},
		"more than was announced":   {1, 0, nil, "no response within 10s"},
		"of an unknown size":        {9, -1, nil, "the connection stalled for 1m0s"},
		"that ends":                 {1, -1, io.EOF, "no response within 10s"},
		"that ends too early":       {1, 2, io.EOF, "no response within 10s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newContext(t.Context(), 10*time.Second, time.Minute)
				u := &Upload{Body: io.NopCloser(readFunc(func([]byte) (int, error) { time.Sleep(time.Hour); return 1, test.err })), Context: c, Size: test.size}
				c.AwaitResponse()
				for range test.reads {
					_, err := u.Read(make([]byte, 1))
					require.Equal(t, test.err, err)
					require.NoError(t, c.Err())
				}
				<-c.Done()
				require.EqualError(t, c.TimeoutCause(nil), test.fails)
			})
		})
	}
}

// Detach returns the number of bytes and the error of the body. An error after Close does not count
// as an error of the body, and reads after Detach change nothing.
func TestUploadDetach(t *testing.T) {
	broken := errors.New("broken")
	body := func(err error) io.ReadCloser {
		first := true
		return io.NopCloser(readFunc(func([]byte) (int, error) {
			if first {
				first = false
				return 1, nil
			}
			return 0, err
		}))
	}
	for name, test := range map[string]struct {
		end    error
		closed bool
		err    error
	}{
		"an error":        {broken, false, broken},
		"the end":         {io.EOF, false, nil},
		"closed by then":  {broken, true, nil},
		"closed, the end": {io.EOF, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newContext(t.Context(), time.Minute, time.Minute)
				u := &Upload{Body: body(test.end), Context: c, Size: 2}
				_, err := u.Read(make([]byte, 1))
				require.NoError(t, err)
				if test.closed {
					require.NoError(t, u.Close())
				}
				_, err = u.Read(make([]byte, 1))
				require.ErrorIs(t, err, test.end)
				u.Body = body(nil)
				_, err = u.Read(make([]byte, 1))
				require.NoError(t, err, "the error before it stays")
				sent, failed := u.Detach()
				assert.EqualValues(t, 2, sent)
				assert.Equal(t, test.err, failed)
				c.Pause()
				u.Body = body(nil)
				_, err = u.Read(make([]byte, 1))
				require.NoError(t, err)
				time.Sleep(time.Hour)
				require.NoError(t, c.Err(), "a read after Detach starts no wait")
				sent, _ = u.Detach()
				assert.EqualValues(t, 2, sent)
			})
		})
	}
}

// Close returns the error of the body.
func TestUploadClose(t *testing.T) {
	u := &Upload{Body: closer{strings.NewReader(""), errTest}}
	assert.Equal(t, errTest, u.Close())
}

type closer struct {
	io.Reader
	err error
}

func (c closer) Close() error { return c.err }

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
