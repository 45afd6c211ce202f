package simulation

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
)

// Rows that are added or deleted while a list is read change its pages.
func TestRowsMove(t *testing.T) {
	plan := WorldPlan{Data: DataPlan{Issues: 25, SecureFiles: []int{1, 1, 1, 1, 1}}}
	plan.Faults = []Fault{
		{Call: "c", Page: "2", Attempt: 1, At: AtBefore, Kind: Insert, Length: 3},
		{Call: "f", Page: "2", Attempt: 1, At: AtBefore, Kind: Delete},
	}
	run(t, plan, func(w *World) {
		got, err := operations["list"](w) // newest first: three rows come twice
		require.NoError(t, err)
		assert.Equal(t, "28", got)

		ctx, mark := w.Call(context.Background(), "f")
		var ids []int64
		for f, err := range w.Client.SecureFiles.List(ctx, forge.Path("group/app"), forge.PerPage(2), mark) {
			require.NoError(t, err)
			ids = append(ids, f.ID)
		}
		assert.Len(t, ids, 4) // one row moved to the previous page
		rows := w.Rows()
		require.Len(t, rows, 4)
		assert.Equal(t, Row{rows[3].At, "secure_files", true, fmt.Sprint(w.Data.SecureFileIDs[0])}, rows[3])
		for _, row := range rows[:3] {
			assert.Equal(t, "issues", row.List)
			assert.False(t, row.Delete)
		}
	})
}

// Rows can be added to every list that has an insert, by the name of the list.
func TestRowsOfEveryList(t *testing.T) {
	plan := WorldPlan{Data: DataPlan{
		Issues: 1, MergeRequests: 1, Tags: 2, Users: 1, Runners: 2, Emails: 2, AuditEvents: 1, SecureFiles: []int{1},
	}}
	run(t, plan, func(w *World) {
		for _, list := range []string{
			"/issues", "/projects/1/merge_requests", "/x/tags", "/users", "/runners", "/runners/all", "/user/emails",
			"/audit_events", "/groups/1/audit_events", "/projects/1/audit_events", "/projects/1/secure_files",
			"/projects/1/registry/repositories",
		} {
			before := len(w.Rows())
			w.insert(list)
			assert.Len(t, w.Rows(), before+1, list)
		}
		before := len(w.Rows())
		w.insert("/settings")
		assert.Len(t, w.Rows(), before)
		for _, list := range []string{"/x/tags", "/user/emails", "/projects/1/secure_files"} {
			request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, list, nil)
			require.NoError(t, err)
			before := len(w.Rows())
			w.remove(&passage{front: &front{world: w, next: w.below}, r: request}, 0)
			require.Len(t, w.Rows(), before+1, list)
			assert.True(t, w.Rows()[before].Delete)
		}
	})
}

// Links to the next page can lead back, to another origin, or nowhere.
func TestRelink(t *testing.T) {
	for target, want := range map[Target]error{
		Itself: forge.ErrRepeatedPage, Start: forge.ErrRepeatedPage, Other: nil, Unchanged: nil, Extended: nil, Unparsable: forge.ErrInvalidResponse, Nowhere: forge.ErrInvalidResponse,
	} {
		s := see(t, smallPlan(HTTP1), "list", Fault{Page: "2", At: AtAfter, Kind: Relink, Target: target})
		if want == nil {
			require.NoError(t, s.err, target)
		} else {
			require.ErrorIs(t, s.err, want, target)
		}
		for _, e := range s.wire {
			assert.Equal(t, "forge", e.Origin)
		}
		t.Log(target, s.got, s.err, len(s.wire))
	}
}

// A fault can name one page of a list, by its number or by its place in the list, in any order of
// the requests.
func TestFaultOfOnePage(t *testing.T) {
	for _, page := range []string{"2", "#2"} {
		plan := smallPlan(H2C)
		plan.Faults = []Fault{{Call: "c", Page: page, Attempt: 1, At: AtBefore, Kind: Respond, Status: 503}}
		run(t, plan, func(w *World) {
			ctx, mark := w.Call(context.Background(), "c")
			issues, err := forge.Collect(w.Client.Issues.List(ctx, nil, forge.PerPage(10), forge.Ahead(8), mark))
			require.NoError(t, err)
			assert.Len(t, issues, 25)
			for _, e := range w.Wire() {
				assert.Equal(t, e.Page == "2" && e.Attempt == 1, e.Status == 503)
			}
			assert.Len(t, w.Wire(), 4)
		})
	}
}

// Without a page a fault hits every page, without an attempt every attempt. "*" is every call.
func TestFaultOfEverything(t *testing.T) {
	s := see(t, smallPlan(HTTP1), "list", Fault{Attempt: 1, At: AtBefore, Kind: Respond, Status: 503})
	require.NoError(t, s.err)
	assert.Equal(t, []int{503, 200, 503, 200, 503, 200}, s.statuses())
	s = see(t, smallPlan(HTTP1), "list", Fault{Call: "*", At: AtBefore, Kind: Respond, Status: 503})
	require.Error(t, s.err)
	assert.Equal(t, []int{503, 503, 503, 503}, s.statuses())
	s = see(t, smallPlan(HTTP1), "get", Fault{Call: "other", At: AtBefore, Kind: Respond, Status: 503},
		Fault{Route: "POST /", At: AtBefore, Kind: Respond, Status: 503}, Fault{Call: "c", Origin: "other", At: AtBefore, Kind: Respond, Status: 503})
	require.NoError(t, s.err)
	assert.Equal(t, []int{200}, s.statuses())
}

// Faults of a proxy: it refuses the tunnel, or responds in place of the server.
func TestProxyFaults(t *testing.T) {
	for _, protocol := range []Protocol{HTTP1, TLS, TLS1} {
		for _, status := range []int{502, 407} {
			plan := smallPlan(protocol)
			plan.Proxy = true
			s := see(t, plan, "get", Fault{Origin: "proxy", Call: "c", Attempt: 1, At: AtBefore, Kind: Respond, Status: status})
			require.NotEmpty(t, s.wire)
			e := s.wire[0]
			assert.Equal(t, []any{"proxy", "c", status}, []any{e.Origin, e.Call, e.Status}, "%s %d", protocol, status)
			assert.Equal(t, protocol.secure(), e.Method == http.MethodConnect)
			if status == 407 {
				require.Error(t, s.err)
				assert.Len(t, s.wire, 1)
			} else {
				require.NoError(t, s.err)
			}
		}
	}
}

// A fault of a call's dials also acts on dials to a proxy.
func TestDialFaults(t *testing.T) {
	for _, proxied := range []bool{false, true} {
		for _, protocol := range []Protocol{HTTP1, TLS} {
			plan := smallPlan(protocol)
			plan.Proxy = proxied
			s := see(t, plan, "get", Fault{Call: "*", At: AtDial, Kind: Refuse})
			require.ErrorIs(t, s.err, syscall.ECONNREFUSED)
			assert.Empty(t, s.wire)

			s = see(t, plan, "get", Fault{Attempt: 1, At: AtDial, Kind: Refuse}, Fault{Attempt: 2, At: AtDial, Kind: Slow, Wait: 5 * time.Second})
			require.NoError(t, s.err)
			assert.GreaterOrEqual(t, s.took, 5*time.Second)
			assert.Less(t, s.took, 10*time.Second)
		}
	}
}

// If a server stays silent forever, the attempt ends after the client's limit of a minute. Over
// HTTP/2 a connection on which nothing arrives is closed before.
func TestStallForEver(t *testing.T) {
	for _, protocol := range protocols {
		for _, point := range []Point{AtBefore, AtAfter, AtHeader, AtData} {
			plan := smallPlan(protocol)
			plan.Retry = forge.RetryPolicy{MaxAttempts: 1}
			s := see(t, plan, "download", Fault{At: point, Kind: Stall, Byte: 10})
			if multiplexed := protocol == H2C || protocol == TLS; multiplexed && (point == AtHeader || point == AtData) {
				require.ErrorContains(t, s.err, "connection lost", "%s %s", protocol, point)
				assert.InDelta(t, 45, s.took.Seconds(), 0.5)
				continue
			}
			require.ErrorIs(t, s.err, forge.ErrTimeout, "%s %s", protocol, point)
			assert.InDelta(t, 60, s.took.Seconds(), 0.5)
		}
	}
}

// A connection that HTTP/2 shares, and on which nothing arrives any more, is left after 45 s: the
// next attempt has another one.
func TestStalledConnectionIsLeft(t *testing.T) {
	for _, protocol := range []Protocol{H2C, TLS} {
		for operation, page := range map[string]string{"get": "", "list": "2", "download": ""} {
			s := see(t, smallPlan(protocol), operation, Fault{Page: page, Attempt: 1, At: AtHeader, Kind: Stall, Byte: 10})
			require.NoError(t, s.err, "%s %s", protocol, operation)
			assert.Equal(t, wantOf[operation], s.got)
			assert.InDelta(t, 45, s.took.Seconds(), 2, "%s %s", protocol, operation)
		}
	}
}

// A slow link delivers a number of bytes per wait.
func TestSlow(t *testing.T) {
	for _, protocol := range protocols {
		s := see(t, smallPlan(protocol), "download", Fault{At: AtData, Kind: Slow, Byte: 10_000, Wait: time.Second, Length: 4000})
		require.NoError(t, s.err)
		assert.Equal(t, "50000", s.got)
		assert.GreaterOrEqual(t, s.took, 8*time.Second, protocol)
		assert.Less(t, s.took, 60*time.Second, protocol)
	}
}

// A request whose header does not arrive completely is on the wire, but the server never handles
// it.
func TestLostRequests(t *testing.T) {
	for _, kind := range []FaultKind{Reset, Cut, Garble, Stall} {
		s := see(t, smallPlan(HTTP1), "post", Fault{At: AtHead, Kind: kind, Byte: 20})
		require.Error(t, s.err)
		require.Len(t, s.wire, 1, kind)
		e := s.wire[0]
		assert.Equal(t, []any{true, false, "c", 1}, []any{e.Lost, e.Handled, e.Call, e.Attempt}, kind)
		t.Log(kind, s.err)
	}
}

// Interim responses come before the final response.
func TestInterim(t *testing.T) {
	for _, protocol := range protocols {
		for _, status := range []int{100, 102, 103} {
			for _, operation := range []string{"get", "upload"} {
				s := see(t, smallPlan(protocol), operation, Fault{At: AtBefore, Kind: Interim, Status: status, Length: 3})
				require.NoError(t, s.err, "%s %d %s", protocol, status, operation)
				assert.Equal(t, wantOf[operation], s.got)
				require.Len(t, s.wire, 1)
				assert.Len(t, s.wire[0].Faults, 1)
			}
		}
		plan := smallPlan(protocol)
		plan.Faults = []Fault{{Call: "c", At: AtBefore, Kind: Interim, Status: 103, Length: 3}}
		run(t, plan, func(w *World) {
			var codes []int
			ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
				Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { codes = append(codes, code); return nil },
			})
			ctx, mark := w.Call(ctx, "c")
			_, err := w.Client.Issues.GetTimeStats(ctx, forge.Path("group/app"), 1, mark)
			require.NoError(t, err)
			assert.Equal(t, []int{103, 103, 103}, codes)
		})
	}
}

// Pages have their own number, in any order of the requests; other positions are counted.
func TestPositionsOfPages(t *testing.T) {
	run(t, WorldPlan{}, func(w *World) {
		for _, c := range []struct {
			page string
			nth  int
		}{{"3", 3}, {"", 1}, {"2", 2}, {"3", 3}} {
			e := &Exchange{Call: "a", Path: "/issues", Page: c.page}
			w.change(func() { w.add(e) })
			assert.Equal(t, c.nth, e.Nth)
		}
		for i, page := range []string{"", "x", "y", "x"} {
			e := &Exchange{Call: "b", Path: "/issues", Page: page}
			w.change(func() { w.add(e) })
			assert.Equal(t, []int{1, 2, 3, 2}[i], e.Nth)
		}
	})
}

// A stuck tunnel ends when its world ends.
func TestProxyStuck(t *testing.T) {
	for _, protocol := range []Protocol{HTTP1, TLS, TLS1} {
		plan := smallPlan(protocol)
		plan.Proxy, plan.Retry = true, forge.RetryPolicy{MaxAttempts: 1}
		s := see(t, plan, "download", Fault{At: AtHeader, Kind: Stall})
		if protocol == TLS {
			require.ErrorContains(t, s.err, "connection lost")
		} else {
			require.ErrorIs(t, s.err, forge.ErrTimeout)
		}
	}
}

// All requests that share a connection report that a fault has hit it.
func TestSharedConnectionFaults(t *testing.T) {
	for _, protocol := range protocols {
		plan := smallPlan(protocol)
		plan.Faults = []Fault{{Call: "c", Page: "3", Attempt: 1, At: AtAfter, Kind: Reset}}
		s := see(t, plan, "list")
		require.NoError(t, s.err)
		require.Len(t, s.wire, 4)
		for i, e := range s.wire {
			assert.Equal(t, i < 3, e.Struck, "%s %d", protocol, i)
			assert.Len(t, e.Faults, map[bool]int{true: 1}[i == 2])
		}
	}
}

// A server can limit the number of concurrent requests of a connection.
func TestFewStreams(t *testing.T) {
	for _, protocol := range []Protocol{H2C, TLS} {
		plan := smallPlan(protocol)
		plan.Streams = 1
		plan.Faults = []Fault{{Call: "c", At: AtBefore, Kind: Stall, Wait: time.Second}}
		run(t, plan, func(w *World) {
			done := make(chan error)
			for range 4 {
				go func() {
					_, err := operations["get"](w)
					done <- err
				}()
			}
			for range 4 {
				require.NoError(t, <-done)
			}
			conns := map[int][]time.Duration{}
			for _, e := range w.Wire() {
				for _, began := range conns[e.Conn] {
					assert.GreaterOrEqual(t, e.Began, began+time.Second, protocol)
				}
				conns[e.Conn] = append(conns[e.Conn], e.Began)
			}
			t.Log(len(w.Wire()), conns)
		})
	}
}

// The new address of a moved project has the client's host and scheme.
func TestMovedProject(t *testing.T) {
	for _, protocol := range protocols {
		run(t, smallPlan(protocol), func(w *World) {
			w.Data.Project.MoveTo("group/new")
			repository := w.Data.Project.AddRegistryRepository("image")
			_, err := operations["get"](w)
			require.NoError(t, err)
			assert.Len(t, w.Wire(), 2)
			host, _ := w.home()
			for found, err := range w.Client.Registry.ListForProject(context.Background(), forge.Path("group/new"), nil) {
				require.NoError(t, err)
				assert.Equal(t, host+"/"+repository.Path, found.Location)
			}
		})
	}
}

// Run reports everything that a program leaves open, and how the program ended.
func TestViolationsAreFound(t *testing.T) {
	for name, body := range map[string]func(w *World){
		"program":    func(*World) { panic("of the program") },
		"exit":       func(*World) { runtime.Goexit() },
		"connection": leaveDownload,
		"goroutine":  func(w *World) { go time.Sleep(time.Hour) },
		"none":       func(*World) {},
	} {
		violations := Run(t, smallPlan(HTTP1), body)
		if name == "none" {
			assert.Empty(t, violations)
			continue
		}
		require.NotEmpty(t, violations, name)
		assert.Equal(t, strings.Replace(name, "exit", "program", 1), violations[0].Name)
		if text := map[string]string{"program": "of the program", "exit": "runtime.Goexit"}[name]; text != "" {
			assert.True(t, strings.HasPrefix(violations[0].Text, text), violations[0].Text)
		}
	}
}

// leaveDownload reads nothing of a download and does not close it. It ends after its context.
func leaveDownload(w *World) {
	ctx, stop := context.WithTimeout(context.Background(), time.Hour)
	context.AfterFunc(ctx, stop)
	_, _ = w.Client.Repositories.DownloadBlob(ctx, forge.Path("group/app"), w.Data.Blobs[0])
}

// A stuck bubble is a violation. Its goroutine stays, and the test ends it.
func TestStuckBubble(t *testing.T) {
	violations := Run(t, WorldPlan{}, func(w *World) {
		stop := make(chan struct{})
		go func() { <-stop }()
	})
	require.NotEmpty(t, violations)
	assert.Equal(t, "goroutine", violations[0].Name)
	assert.Equal(t, "bubble", violations[1].Name)
	assert.Contains(t, violations[1].Text, "deadlock")
}
