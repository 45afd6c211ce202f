package simulation

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
)

// fetched is the result of a download.
type fetched struct {
	content []byte
	err     error
	wire    []Exchange
	took    time.Duration
}

// fetch downloads a generated blob as call "c", with one attempt.
func fetch(t *testing.T, protocol Protocol, faults ...Fault) (f fetched) {
	t.Helper()
	plan := smallPlan(protocol)
	plan.Faults, plan.Retry = faults, forge.RetryPolicy{MaxAttempts: 1}
	run(t, plan, func(w *World) {
		ctx, mark := w.Call(context.Background(), "c")
		var download *forge.Download
		if download, f.err = w.Client.Repositories.DownloadBlob(ctx, forge.Path("group/app"), w.Data.Blobs[0], mark); f.err == nil {
			f.content, f.err = io.ReadAll(download)
			_ = download.Close()
		}
		f.took, f.wire = w.Now(), w.Wire()
	})
	return f
}

// With a fault at a byte of the response's body, exactly the bytes before it arrive.
func TestBytesBeforeAFault(t *testing.T) {
	for _, protocol := range protocols {
		base := fetch(t, protocol)
		require.NoError(t, base.err)
		whole := base.content
		require.Len(t, whole, 50_000)
		for _, at := range []int{0, 1, 33_333, 49_999} {
			for _, kind := range []FaultKind{Cut, Reset, Abort} {
				f := fetch(t, protocol, Fault{Call: "c", At: AtData, Kind: kind, Byte: at})
				require.Error(t, f.err, "%s %s %d", protocol, kind, at)
				assert.True(t, bytes.HasPrefix(whole[:at], f.content))
				if protocol == HTTP1 || protocol == TLS1 {
					// Over HTTP/2, net/http may report the end of the connection before
					// the response that came first.
					assert.Len(t, f.content, at, "%s %s", protocol, kind)
				}
				assert.GreaterOrEqual(t, f.wire[0].Sent, int64(at))
			}
			f := fetch(t, protocol, Fault{Call: "c", At: AtData, Kind: Stall, Byte: at, Wait: 20 * time.Second})
			require.NoError(t, f.err)
			assert.True(t, bytes.Equal(whole, f.content))
			assert.InDelta(t, 20, f.took.Seconds(), 0.1)
		}
	}
}

// Bytes of the response's body are changed or sent twice at the byte of the fault.
func TestGarbledAndRepeatedBytes(t *testing.T) {
	for _, protocol := range protocols {
		whole := fetch(t, protocol).content
		f := fetch(t, protocol, Fault{Call: "c", At: AtData, Kind: Garble, Byte: 40_000, Length: 3})
		require.NoError(t, f.err, "no one can detect it")
		require.Len(t, f.content, len(whole))
		for i := range whole {
			if (i >= 40_000 && i < 40_003) != (f.content[i] != whole[i]) {
				t.Fatal(protocol, i)
			}
		}
		f = fetch(t, protocol, Fault{Call: "c", At: AtData, Kind: Repeat, Byte: 10, Length: 5})
		require.NoError(t, f.err, "nor this")
		want := slices.Concat(whole[:15], whole[10:len(whole)-5]) // not longer than announced
		assert.True(t, bytes.Equal(want, f.content), "%s: %d bytes", protocol, len(f.content))
	}
}

// With a fault at a byte of the response's header, no part of the response is usable.
func TestHeaderFaults(t *testing.T) {
	for _, protocol := range protocols {
		for _, at := range []int{0, 9, 40} {
			for _, kind := range []FaultKind{Cut, Reset} {
				f := fetch(t, protocol, Fault{Call: "c", At: AtHeader, Kind: kind, Byte: at})
				require.Error(t, f.err)
				assert.Empty(t, f.content)
				require.Len(t, f.wire, 1)
				assert.Equal(t, []any{true, 200}, []any{f.wire[0].Handled, f.wire[0].Answer})
			}
		}
	}
	require.ErrorContains(t, fetch(t, HTTP1, Fault{Call: "c", At: AtHeader, Kind: Garble, Byte: 9, Length: 3}).err,
		"malformed HTTP status code")
	require.ErrorContains(t, fetch(t, TLS1, Fault{Call: "c", At: AtHeader, Kind: Garble, Byte: 9, Length: 3}).err,
		"tls: ")
	require.ErrorContains(t, fetch(t, HTTP1, Fault{Call: "c", At: AtHeader, Kind: Repeat, Byte: 9, Length: 3}).err, // "HTTP/1.1 200200 OK"
		"malformed HTTP status code")
}

// With a fault at a byte of the request's body, the server has read exactly the bytes before it,
// and the call has no effect.
func TestRequestBodyFaults(t *testing.T) {
	for _, protocol := range protocols {
		for _, at := range []int{0, 1, 70_000} {
			for _, kind := range []FaultKind{Cut, Reset, Abort, Respond} {
				s := see(t, smallPlan(protocol), "upload", Fault{Attempt: 1, At: AtBody, Kind: kind, Byte: at, Status: 507})
				require.Error(t, s.err)
				require.Len(t, s.wire, 1, "%s %s", protocol, kind)
				e := s.wire[0]
				assert.Equal(t, []any{false, false, int64(at)}, []any{e.Handled, e.Effect, e.Read}, "%s %s", protocol, kind)
			}
		}
		s := see(t, smallPlan(protocol), "upload", Fault{Attempt: 1, At: AtBody, Kind: Stall, Byte: 70_000, Wait: 10 * time.Second})
		require.NoError(t, s.err)
		assert.GreaterOrEqual(t, s.took, 10*time.Second)
		assert.True(t, s.wire[0].Effect)
	}
}

// A loss before the effect prevents it. A loss after the effect does not, though no response
// arrives.
func TestLostBeforeAndAfterTheEffect(t *testing.T) {
	for _, protocol := range protocols {
		for _, kind := range []FaultKind{Cut, Reset, Abort, Restart} {
			for _, point := range []Point{AtBefore, AtAfter} {
				plan := smallPlan(protocol)
				plan.Faults = []Fault{{Call: "c", At: point, Kind: kind, Wait: time.Second}}
				run(t, plan, func(w *World) {
					_, err := operations["post"](w)
					require.Error(t, err)
					e := w.Wire()[0]
					done := point == AtAfter
					assert.Equal(t, []any{done, 0}, []any{e.Effect, e.Status}, "%s %s", protocol, kind)
					effects := w.Server.CountApplied("POST /projects/:id/issues/:issue_iid/add_spent_time")
					assert.Equal(t, done, effects == 1)
				})
			}
		}
	}
}

// RST_STREAM ends one HTTP/2 request and keeps the connection.
func TestAbortKeepsTheConnection(t *testing.T) {
	for _, protocol := range protocols {
		s := see(t, smallPlan(protocol), "get", Fault{Attempt: 1, At: AtAfter, Kind: Abort})
		require.NoError(t, s.err)
		require.Len(t, s.wire, 2)
		assert.Equal(t, protocol == H2C || protocol == TLS, s.wire[0].Conn == s.wire[1].Conn)
		assert.False(t, s.wire[0].Struck)
	}
}
