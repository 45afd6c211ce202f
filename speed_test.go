package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is done by hand for speed does what the standard library does.

func TestAppendEscaped(t *testing.T) {
	for c := range 256 {
		text := "a" + string([]byte{byte(c)}) + "z"
		assert.Equal(t, url.PathEscape(text), string(appendEscaped(nil, "tag", text)))
	}
	assert.Equal(t, "group/a%20b/%C3%A9", string(appendEscaped(nil, "image_path", "group/a b/é")))
}

func TestAt(t *testing.T) {
	for _, base := range []string{"https://forge.example.com/api/v4", "http://127.0.0.1:8080/a%20b/api/v4", "https://forge.example.com/~x/é/api/v4"} {
		parsed, err := parseBase("baseURL", base)
		require.NoError(t, err)
		for _, path := range []string{"/issues", "/projects/group%2Fapp/", "/projects/1/a:b@c&d=e$f+g~h", "/projects/100%25", "/x/%C3%A9"} {
			want, err := url.Parse(parsed.String() + path)
			require.NoError(t, err)
			plain, err := url.PathUnescape(path)
			require.NoError(t, err)
			got := at(parsed, wirePath{parsed.EscapedPath() + path, parsed.Path + plain})
			assert.Equal(t, want.String(), got.String())
			assert.Equal(t, want.Path, got.Path)
			assert.Equal(t, want.RequestURI(), got.RequestURI())
		}
	}
}

// The timer is not set anew for every read: it goes on from where it wakes too early. There is none before somebody waits for the
// end; the end comes at the same time to one who does so later, or who only asks.
func TestWatchdog(t *testing.T) {
	for name, test := range map[string]struct {
		run  func(w *watchdog)
		ends time.Duration // after the run; 0: not at all; -1: during it
	}{
		"silence":                  {func(w *watchdog) { w.expectBytes() }, 60 * time.Second},
		"bytes come, then silence": {func(w *watchdog) { readEvery(w, 40*time.Second) }, 60 * time.Second},
		"the caller pauses":        {func(w *watchdog) { readEvery(w, 40*time.Second); w.rest() }, 0},
		"silence after a pause":    {func(w *watchdog) { w.expectBytes(); w.rest(); time.Sleep(time.Hour); w.expectBytes() }, 60 * time.Second},
		"a shorter wait":           {func(w *watchdog) { w.expectBytes(); w.expectHeader() }, 10 * time.Second},
		"a wait that is over":      {func(w *watchdog) { w.expectBytes(); time.Sleep(time.Minute); w.rest() }, -1},
		"the attempt ends":         {func(w *watchdog) { w.expectBytes(); w.stop() }, 0},
	} {
		for when, hear := range map[string]struct{ before, after func(ctx context.Context) }{
			"waited for from the beginning": {func(ctx context.Context) { ctx.Done() }, awaitEnd},
			"waited for later":              {func(context.Context) {}, awaitEnd},
			"asked for":                     {func(context.Context) {}, askForEnd},
		} {
			t.Run(name+", "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, begun := &lifetime{Context: t.Context()}, time.Now()
					var w watchdog
					w.begin(ctx, &limits{header: 10 * time.Second, stall: time.Minute}, &begun)
					hear.before(ctx)
					test.run(&w)
					assert.Equal(t, ctx.waited != nil, w.timer != nil)
					if test.ends < 0 {
						require.ErrorIs(t, ctx.timeout(ctx.Err()), ErrTimeout)
						return
					}
					require.NoError(t, ctx.Err())
					start := time.Now()
					if hear.after(ctx); test.ends == 0 {
						require.NoError(t, ctx.Err())
					} else {
						require.ErrorIs(t, ctx.timeout(ctx.Err()), ErrTimeout)
						assert.Equal(t, test.ends, time.Since(start))
					}
					w.stop()
				})
			})
		}
	}
}

// awaitEnd waits for the end of the context, for an hour at most.
func awaitEnd(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Hour):
	}
}

// askForEnd asks every second.
func askForEnd(ctx context.Context) {
	for start := time.Now(); ctx.Err() == nil && time.Since(start) < time.Hour; {
		time.Sleep(time.Second)
	}
}

// The longest limit there is does not end an attempt.
func TestWatchdogWithoutLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, begun := &lifetime{Context: t.Context()}, time.Now()
		var w watchdog
		w.begin(ctx, &limits{header: math.MaxInt64, stall: math.MaxInt64}, &begun)
		ctx.Done()
		for _, wait := range []func(){w.expectHeader, w.expectBytes, w.rest, w.expectBytes} {
			time.Sleep(time.Hour)
			wait()
			require.NoError(t, ctx.Err())
		}
		w.stop()
	})
}

// A transport that hears of nothing gets no timer, and what it fails with after the limit is a timeout all the same.
func TestTimeoutUnheard(t *testing.T) {
	late := errors.New("late")
	for name, test := range map[string]struct {
		header, body time.Duration
		timeout      bool
	}{
		"in time":       {time.Minute - 1, time.Minute - 1, false},
		"a late header": {time.Minute, 0, true},
		"a late body":   {0, time.Minute, true},
	} {
		for kind, send := range map[string]func(ctx context.Context, c *Client) error{
			"a value": func(ctx context.Context, c *Client) error { return c.Do(ctx, callOf(safe), new(any)) },
			"a download": func(ctx context.Context, c *Client) error {
				d, err := c.Repositories.Archive(ctx, ID(1), nil)
				if err != nil {
					return err
				}
				defer d.Close()
				_, err = io.Copy(io.Discard, d)
				return err
			},
		} {
			t.Run(name+" of "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 1}), through(func(req *http.Request) (*http.Response, error) {
						if time.Sleep(test.header); test.body == 0 {
							return nil, late
						}
						pause := test.body // before the first bytes, and not once they are given up
						return &http.Response{StatusCode: http.StatusOK, Header: headers("Content-Type", "application/json"), ContentLength: -1, Request: req, Body: io.NopCloser(readerFunc(func([]byte) (int, error) {
							time.Sleep(pause)
							pause = 0
							return 0, late
						}))}, nil
					}))
					err := send(t.Context(), c)
					assert.Equal(t, test.timeout, errors.Is(err, ErrTimeout), "%v", err)
					assert.Equal(t, !test.timeout, errors.Is(err, late), "%v", err)
				})
			})
		}
	}
}

// The next attempt has its whole time, whatever was left of the one before.
func TestWatchdogOfTheNextAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watchdog
		first, begun := &lifetime{Context: t.Context()}, time.Now()
		w.begin(first, &limits{stall: time.Minute}, &begun)
		w.expectBytes()
		time.Sleep(50 * time.Second)
		w.stop()
		ctx := &lifetime{Context: t.Context()}
		w.begin(ctx, &limits{stall: time.Minute}, &begun)
		w.expectBytes()
		start := time.Now()
		<-ctx.Done()
		assert.Equal(t, time.Minute, time.Since(start))
		assert.NoError(t, first.Err(), "the first attempt was ended")
	})
}

func readEvery(w *watchdog, d time.Duration) {
	for range 10 {
		w.expectBytes()
		time.Sleep(d)
	}
	w.expectBytes()
}

// io.Copy takes large steps, and loses neither bytes nor the error.
func TestDownloadWriteTo(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1048576")
		if r.URL.Path == "/api/v4/projects/2/repository/archive" {
			_, _ = w.Write(content[:1<<19])
			return
		}
		_, _ = w.Write(content)
	}))
	defer srv.Close()
	client := onceClient(t, srv.URL)
	for id, size := range map[ID]int{1: 1 << 20, 2: 1 << 19} {
		d, err := client.Repositories.Archive(t.Context(), id, nil)
		require.NoError(t, err)
		var got bytes.Buffer
		var largest int
		n, err := io.Copy(writerFunc(func(p []byte) (int, error) {
			largest = max(largest, len(p))
			return got.Write(p)
		}), d)
		assert.Equal(t, content[:size], got.Bytes())
		assert.EqualValues(t, size, n)
		assert.Greater(t, largest, 32<<10, "the steps are io.Copy's own")
		var failed *Error
		assert.Equal(t, id == 2, errors.As(err, &failed), "%v", err)
		require.NoError(t, d.Close())
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Where pages are linked, the next one is asked for while a page is being decoded.
func TestAheadDecodesBesideTheNextRequest(t *testing.T) {
	asked := make(chan struct{})
	srv := servePages(t, &pageServer{rows: 3, keyset: true, hook: func(_ http.ResponseWriter, _ *http.Request, page int) bool {
		if page == 3 {
			close(asked)
		}
		return false
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	decodeGate = func(id int64) {
		if id == 2 {
			select {
			case <-asked:
			case <-ctx.Done():
			}
		}
	}
	rows, err := Collect(ListAs[gatedRow](ctx, onceClient(t, srv.URL), keysetCall, PerPage(1), Ahead(2)))
	require.NoError(t, err)
	assert.Len(t, rows, 3)
}

// decodeGate holds up the decoding of a row.
var decodeGate func(id int64)

type gatedRow struct{ ID int64 }

func (r *gatedRow) UnmarshalJSON(text []byte) error {
	var row listRow
	err := json.Unmarshal(text, &row)
	r.ID = row.ID
	decodeGate(r.ID)
	return err
}
