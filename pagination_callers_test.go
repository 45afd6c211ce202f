package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// callersCode is a function of the caller that the library calls for each page of a list.
type callersCode struct {
	name string
	with func(act func()) Option
}

// logHandler is a slog.Handler that calls a function.
type logHandler func()

func (h logHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h logHandler) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h logHandler) WithGroup(string) slog.Handler            { return h }

func (h logHandler) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "forge: attempt" {
		h()
	}
	return nil
}

// limiterFunc is a Limiter that calls a function.
type limiterFunc func()

func (f limiterFunc) Wait(context.Context) error {
	f()
	return nil
}

func allCallersCode() []callersCode {
	return []callersCode{
		{"hook", func(act func()) Option { return WithOnAttempt(func(context.Context, Attempt) { act() }) }},
		{"limiter", func(act func()) Option { return WithLimiter(limiterFunc(act)) }},
		{"logger", func(act func()) Option { return WithLogger(slog.New(logHandler(act))) }},
		{"transport", func(act func()) Option {
			return through(func(r *http.Request) (*http.Response, error) {
				act()
				return http.DefaultTransport.RoundTrip(r)
			})
		}},
	}
}

// from returns a function that acts from its nth call on.
func from(n int32, act func()) func() {
	var calls atomic.Int32
	return func() {
		if calls.Add(1) >= n {
			act()
		}
	}
}

// forCallersCode runs a test for each form of list, each function of the caller, and each number
// of pages ahead.
func forCallersCode(t *testing.T, forms []listForm, run func(t *testing.T, srv *pageServer, form listForm, code callersCode, ahead int)) {
	t.Helper()
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	for _, form := range forms {
		for _, code := range allCallersCode() {
			for _, ahead := range []int{1, 2, 8, 64} {
				t.Run(fmt.Sprintf("%s, %s, ahead %d", form.name, code.name, ahead), func(t *testing.T) {
					t.Parallel()
					run(t, servePages(t, form.server(20)), form, code, ahead)
				})
			}
		}
	}
}

// soon calls f and fails the test if f hangs.
func soon(t *testing.T, f func()) {
	t.Helper()
	hung := time.AfterFunc(2*time.Minute, func() { panic(t.Name() + " hangs") })
	defer hung.Stop()
	f()
}

// A panic of the caller's code is raised with its original value in the goroutine that ranges over
// the list.
func TestAheadRaisesPanics(t *testing.T) {
	forCallersCode(t, listForms(), func(t *testing.T, srv *pageServer, form listForm, code callersCode, ahead int) {
		problem := errors.New("a bug of the caller")
		client := onceClient(t, srv.URL, code.with(from(4, func() { panic(problem) })))
		var seen []int64
		soon(t, func() {
			assert.PanicsWithValue(t, problem, func() {
				_, _ = readList(t, t.Context(), client, form.call, func(id int64) { seen = append(seen, id) }, PerPage(1), Ahead(ahead))
			})
		})
		assert.Equal(t, upTo(len(seen)), append([]int64(nil), seen...))
		assert.LessOrEqual(t, len(seen), 3)
	})
}

// A panic in a page that the loop does not reach is raised when the loop is left. If the loop
// itself panics, its panic is raised instead.
func TestAheadRaisesPanicsAtTheEnd(t *testing.T) {
	for _, form := range listForms() {
		for _, code := range allCallersCode() {
			for _, ahead := range []int{1, 2, 8, 64} {
				for _, own := range []string{"a bug of the caller", "a bug of the loop"} {
					synctest.Test(t, func(t *testing.T) {
						act := from(2, func() { panic("a bug of the caller") })
						pages := form.server(20)
						inMemory := through(func(r *http.Request) (*http.Response, error) {
							if code.name == "transport" {
								act()
							}
							recorder := httptest.NewRecorder()
							pages.ServeHTTP(recorder, r)
							return recorder.Result(), nil
						})
						client := bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 1}), code.with(act), inMemory)
						assert.PanicsWithValue(t, own, func() {
							for _, err := range ListAs[listRow](t.Context(), client, form.call, PerPage(1), Ahead(ahead)) {
								require.NoError(t, err)
								synctest.Wait() // the fetch has ended
								if own == "a bug of the loop" {
									panic(own)
								}
								break
							}
						}, "%s, %s, ahead %d", form.name, code.name, ahead)
					})
				}
			}
		}
	}
}

// A function of the caller that does not return blocks a list only until the context ends or the
// loop is left.
func TestAheadBlocked(t *testing.T) {
	forCallersCode(t, []listForm{listForms()[0], listForms()[3]}, func(t *testing.T, srv *pageServer, form listForm, code callersCode, ahead int) {
		for _, leave := range []bool{false, true} {
			release := make(chan struct{})
			var inside atomic.Int32
			client := onceClient(t, srv.URL, code.with(from(2, func() {
				inside.Add(1)
				defer inside.Add(-1)
				<-release
			})))
			ctx, cancel := context.WithCancel(t.Context())
			soon(t, func() {
				if leave {
					for _, err := range ListAs[listRow](ctx, client, form.call, PerPage(1), Ahead(ahead)) {
						require.NoError(t, err)
						require.Eventually(t, func() bool { return inside.Load() > 0 }, time.Minute, time.Millisecond)
						break
					}
					return
				}
				ids, err := readList(t, ctx, client, form.call, func(int64) {
					require.Eventually(t, func() bool { return inside.Load() > 0 }, time.Minute, time.Millisecond)
					cancel()
				}, PerPage(1), Ahead(ahead))
				require.ErrorIs(t, err, context.Canceled)
				assert.Equal(t, upTo(1), ids)
			})
			assert.Positive(t, inside.Load(), "the code is still running")
			cancel()
			close(release)
			require.Eventually(t, func() bool { return inside.Load() == 0 }, time.Minute, time.Millisecond)
		}
	})
}

// When the loop is left, or the context ends, no code of the caller runs any longer, unless it takes
// more than 100 ms to return. The list waits no longer than that, in all.
func TestAheadWaitsBriefly(t *testing.T) {
	for _, next := range []string{"page", "cursor"} {
		for _, end := range []string{"break", "panic", "cancel"} {
			for late, wait := range map[time.Duration]time.Duration{99 * time.Millisecond: 99 * time.Millisecond, time.Minute: leaveAfter} {
				synctest.Test(t, func(t *testing.T) {
					var inside atomic.Int32
					client := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
						if query := req.URL.Query(); query.Has("page") && query.Get("page") != "1" || query.Has("cursor") {
							inside.Add(1)
							defer inside.Add(-1)
							<-req.Context().Done()
							time.Sleep(late)
							return nil, req.Context().Err()
						}
						query := maps.Clone(req.URL.Query())
						query.Set(next, "2")
						header := headers("Content-Type", "application/json", "Link", "<https://forge.example.com"+req.URL.Path+"?"+query.Encode()+`>; rel="next"`)
						return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(`[{"id":1}]`)), Request: req}, nil
					}))
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					began := time.Now()
					read := func() {
						for _, err := range client.Issues.List(ctx, nil, PerPage(1), Ahead(2)) {
							if err != nil {
								assert.ErrorIs(t, err, context.Canceled)
								break
							}
							synctest.Wait()
							assert.Positive(t, inside.Load())
							switch end {
							case "panic":
								panic("a bug of the loop")
							case "cancel":
								cancel()
								continue
							}
							break
						}
					}
					if end == "panic" {
						assert.PanicsWithValue(t, "a bug of the loop", read)
					} else {
						read()
					}
					assert.Equal(t, wait, time.Since(began), "%s, %s", next, end)
					assert.Equal(t, late > leaveAfter, inside.Load() > 0, "%s, %s", next, end)
					time.Sleep(late)
				})
			}
		}
	}
}

// An absurdly large number of pages ahead is limited.
func TestAheadIsLimited(t *testing.T) {
	var o callOptions
	o.kind = kindList
	Ahead(math.MaxInt)(&o)
	assert.Equal(t, 64, o.ahead)
	for _, form := range listForms() {
		for _, n := range []int{65, math.MaxInt} {
			srv := servePages(t, form.server(150))
			for row, err := range ListAs[listRow](t.Context(), onceClient(t, srv.URL), form.call, PerPage(1), Ahead(n)) {
				require.NoError(t, err)
				if row.ID%50 == 0 {
					time.Sleep(5 * time.Millisecond) // let it prefetch as far as it can
				}
				require.LessOrEqual(t, srv.count(), int(row.ID)+64+1)
			}
		}
	}
}

// A panic in a page after one that cannot be decoded is raised instead of the error of that page.
func TestAheadRaisesPanicsAfterAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := bubbleClient(t, through(func(r *http.Request) (*http.Response, error) {
			page, body := r.URL.Query().Get("cursor"), `[{"id":1}]`
			switch page {
			case "aa":
				body = `[{"id":`
			case "aaa":
				panic("a bug of the caller")
			}
			header := http.Header{"Link": {`<https://x/?cursor=a` + page + `>; rel="next"`}}
			return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
		}))
		assert.PanicsWithValue(t, "a bug of the caller", func() {
			for _, err := range ListAs[listRow](t.Context(), client, offsetCall, Ahead(8)) {
				require.NoError(t, err)
				synctest.Wait() // the pages ahead have ended
			}
		})
	})
}
