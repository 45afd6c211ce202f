package simulation

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
)

// seen is the result of one operation.
type seen struct {
	got  string
	err  error
	wire []Exchange
	took time.Duration
}

// see runs one operation in a world with faults. A fault without a call hits the operation's call.
func see(t *testing.T, plan WorldPlan, operation string, faults ...Fault) (s seen) {
	t.Helper()
	for _, f := range faults {
		if f.Call == "" && f.Origin == "" {
			f.Call = "c"
		}
		plan.Faults = append(plan.Faults, f)
	}
	run(t, plan, func(w *World) {
		s.got, s.err = operations[operation](w)
		s.took = w.Now()
		s.wire = w.Wire()
	})
	return s
}

// statuses returns the statuses that were sent, in order; 0 means none.
func (s seen) statuses() (list []int) {
	for _, e := range s.wire {
		list = append(list, e.Status)
	}
	return list
}

// A response can be replaced before the call has an effect, and after it.
func TestRespondBeforeAndAfterTheEffect(t *testing.T) {
	for _, protocol := range protocols {
		s := see(t, smallPlan(protocol), "post", Fault{At: AtBefore, Kind: Respond, Status: 503})
		require.Error(t, s.err)
		require.Len(t, s.wire, 1)
		e := s.wire[0]
		assert.Equal(t, []any{false, false, 0, 503}, []any{e.Handled, e.Effect, e.Answer, e.Status})

		s = see(t, smallPlan(protocol), "post", Fault{At: AtAfter, Kind: Respond, Status: 503})
		require.Error(t, s.err)
		require.Len(t, s.wire, 1)
		e = s.wire[0]
		assert.Equal(t, []any{true, true, 201, 503}, []any{e.Handled, e.Effect, e.Answer, e.Status})
	}
}

// A write that the server refuses has no effect.
func TestRefusedWriteHasNoEffect(t *testing.T) {
	run(t, WorldPlan{}, func(w *World) {
		_, err := operations["post"](w)
		require.ErrorIs(t, err, forge.ErrNotFound)
		e := w.Wire()[0]
		assert.Equal(t, []any{true, false, 404, 404}, []any{e.Handled, e.Effect, e.Answer, e.Status})
	})
}

// Every form of Retry-After arrives as intended, by the server's clock. The client waits that long,
// or fails if the wait would be too long.
func TestRetryAfterForms(t *testing.T) {
	for form, least := range map[RetryAfter]time.Duration{
		Unsaid: 0, Seconds: 20 * time.Second, Date: 19 * time.Second, ResetUnix: 19 * time.Second,
		ResetDelta: 20 * time.Second, Garbage: 0, Negative: 0,
	} {
		s := see(t, smallPlan(HTTP1), "get",
			Fault{Attempt: 1, At: AtBefore, Kind: Respond, Status: 429, RetryAfter: form, Wait: 20 * time.Second})
		require.NoError(t, s.err, form)
		require.Equal(t, []int{429, 200}, s.statuses(), form)
		assert.GreaterOrEqual(t, s.wire[1].Began, least, form)
		assert.Less(t, s.wire[1].Began, least+7*time.Second, form)
	}
	s := see(t, smallPlan(HTTP1), "get", Fault{Attempt: 1, At: AtBefore, Kind: Respond, Status: 429, RetryAfter: Absurd})
	require.ErrorIs(t, s.err, forge.ErrRateLimited)
	assert.Less(t, s.took, time.Second)
}

// Unusual statuses arrive unchanged.
func TestOddStatuses(t *testing.T) {
	for _, protocol := range protocols {
		for _, status := range []int{204, 206, 226, 299, 304, 399, 418, 499, 530, 600, 999} {
			s := see(t, smallPlan(protocol), "get", Fault{At: AtBefore, Kind: Respond, Status: status})
			require.Error(t, s.err, status)
			for _, sent := range s.statuses() {
				assert.Equal(t, status, sent)
			}
			assert.Contains(t, s.err.Error(), fmt.Sprint(status))
		}
	}
}

// Redirects lead to their target, and no credential arrives at another origin.
func TestRedirectTargets(t *testing.T) {
	for _, protocol := range protocols {
		for target, want := range map[Target]string{
			Moved: "", Itself: "more than 5 times", Other: "another origin", Back: "another origin", Nowhere: "without an address",
			Userinfo: "with a user or password", Unparsable: "cannot be parsed", Downgrade: "downgrade",
		} {
			s := see(t, smallPlan(protocol), "get",
				Fault{At: AtBefore, Kind: Respond, Status: 302, Target: target})
			text := fmt.Sprint(protocol, target, s.err)
			switch want {
			case "":
				require.NoError(t, s.err, text)
				require.Len(t, s.wire, 2, text)
				assert.True(t, strings.HasPrefix(s.wire[1].Path, movedPrefix), text)
			case "more than 5 times":
				require.ErrorIs(t, s.err, forge.ErrRedirect, text)
				assert.Len(t, s.wire, 6, text)
			case "downgrade":
				if protocol.secure() {
					require.ErrorIs(t, s.err, forge.ErrRedirect, text)
				}
			default:
				require.ErrorIs(t, s.err, forge.ErrRedirect, text)
				assert.Len(t, s.wire, 1, text)
			}
		}
	}
}

// A download continues at another origin, without the credential.
func TestDownloadAtAnotherOrigin(t *testing.T) {
	for _, protocol := range protocols {
		for _, target := range []Target{Other, Back} {
			plan := smallPlan(protocol)
			plan.PlainHTTP = !protocol.secure()
			s := see(t, plan, "download", Fault{At: AtBefore, Kind: Respond, Status: 307, Target: target})
			require.NoError(t, s.err)
			assert.Equal(t, "50000", s.got)
			require.GreaterOrEqual(t, len(s.wire), 2)
			e := s.wire[1]
			assert.Equal(t, "other", e.Origin)
			assert.Equal(t, "c", e.Call)
			assert.Empty(t, e.Header.Get("Private-Token"))
		}
	}
	s := see(t, smallPlan(HTTP1), "download", Fault{At: AtBefore, Kind: Respond, Status: 307, Target: Other})
	require.ErrorIs(t, s.err, forge.ErrRedirect, "the world has no PlainHTTP")
	s = see(t, smallPlan(TLS), "download", Fault{At: AtBefore, Kind: Respond, Status: 307, Target: Downgrade})
	require.ErrorIs(t, s.err, forge.ErrRedirect)
	assert.Len(t, s.wire, 1)
}

// A connection is not used again after the server has announced its end.
func TestGoAway(t *testing.T) {
	for _, protocol := range protocols {
		for _, goes := range []bool{false, true} {
			plan := smallPlan(protocol)
			if goes {
				plan.Faults = []Fault{{Call: "c", Page: "2", At: AtBefore, Kind: GoAway}}
			}
			s := see(t, plan, "list")
			require.NoError(t, s.err)
			assert.Equal(t, "25", s.got)
			require.Len(t, s.wire, 3)
			assert.Equal(t, !goes, s.wire[1].Conn == s.wire[2].Conn, protocol)
		}
	}
}

// A restart ends all connections, refuses new ones for a time, and keeps the stored data.
func TestRestart(t *testing.T) {
	for _, protocol := range protocols {
		plan := smallPlan(protocol)
		plan.Retry = forge.RetryPolicy{MaxAttempts: 8}
		s := see(t, plan, "get", Fault{Attempt: 1, At: AtBefore, Kind: Restart, Wait: 4 * time.Second})
		require.NoError(t, s.err)
		require.Len(t, s.wire, 2)
		assert.GreaterOrEqual(t, s.wire[1].Began, 4*time.Second)
		assert.NotEqual(t, s.wire[0].Conn, s.wire[1].Conn)
	}
}

// The server's clock jumps, and so does the Date of its responses.
func TestJumpDate(t *testing.T) {
	plan := smallPlan(HTTP1)
	plan.Faults = []Fault{{Call: "c", At: AtBefore, Kind: JumpDate, Wait: -48 * time.Hour}}
	run(t, plan, func(w *World) {
		for _, want := range []string{"Sat, 01 Jan 2000", "Thu, 30 Dec 1999"} {
			var response forge.Response
			_, err := w.Client.Issues.GetTimeStats(context.Background(), forge.Path("group/app"), 1, forge.Into(&response))
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(response.Header.Get("Date"), want), response.Header.Get("Date"))
			_, err = operations["get"](w)
			require.NoError(t, err)
		}
	})
}

// An OAuth token is refreshed after its expiry, and after the server has refused it.
func TestTokensExpire(t *testing.T) {
	for _, protocol := range protocols {
		plan := smallPlan(protocol)
		plan.Auth, plan.Lifetime, plan.Rotating = OAuth, time.Minute, true
		plan.Faults = []Fault{{Call: "c", Attempt: 2, At: AtBefore, Kind: Expire}}
		run(t, plan, func(w *World) {
			for range 2 {
				_, err := operations["get"](w)
				require.NoError(t, err)
			}
			time.Sleep(time.Hour)
			_, err := operations["get"](w)
			require.NoError(t, err)
			var came []string
			for _, e := range w.Wire() {
				came = append(came, fmt.Sprint(e.Origin, " ", e.Status))
			}
			assert.Equal(t, []string{
				"forge 200", "forge 401", "token 200", "forge 200", "token 200", "forge 200",
			}, came, protocol)
			assert.Contains(t, w.Secrets(), "simulated-access-0003")
		})
	}
}

// If refresh tokens rotate, each is valid for one refresh.
func TestRotatingTokens(t *testing.T) {
	for _, rotating := range []bool{false, true} {
		tokens := newTokens(WorldPlan{Rotating: rotating})
		first := tokens.grant()
		assert.True(t, tokens.valid(first.AccessToken))
		assert.False(t, tokens.valid("unknown"))
		assert.True(t, tokens.use(first.RefreshToken))
		assert.Equal(t, !rotating, tokens.use(first.RefreshToken))
		assert.True(t, tokens.use(tokens.grant().RefreshToken))
	}
}

// Each kind of credential has its own header.
func TestCredentialHeaders(t *testing.T) {
	for auth, header := range map[AuthKind]string{
		PersonalToken: "Private-Token", JobToken: "Job-Token", OAuth: "Authorization", None: "",
	} {
		plan := smallPlan(HTTP1)
		plan.Auth = auth
		s := see(t, plan, "get")
		require.Len(t, s.wire, 1)
		for _, name := range []string{"Private-Token", "Job-Token", "Authorization"} {
			assert.Equal(t, name == header, s.wire[0].Header.Get(name) != "", "%s %s", auth, name)
		}
	}
}

// Registry tokens are secrets, too.
func TestRegistryTokensAreSecrets(t *testing.T) {
	run(t, WorldPlan{Data: DataPlan{Tags: 2}}, func(w *World) {
		before := len(w.Secrets())
		_, err := forge.Collect(w.Client.RegistryNative.ListCatalog(context.Background()))
		require.NoError(t, err)
		secrets := w.Secrets()
		require.Len(t, secrets, before+1)
		wire := w.Wire()
		assert.Equal(t, "Bearer "+secrets[before], wire[len(wire)-1].Header.Get("Authorization"))
	})
}

// A header that never ends makes the attempt fail.
func TestEndlessHeader(t *testing.T) {
	for _, protocol := range protocols {
		s := see(t, smallPlan(protocol), "get", Fault{At: AtAfter, Kind: Endless})
		require.Error(t, s.err)
		assert.Len(t, s.wire, 4)
		assert.Equal(t, http.StatusOK, s.wire[0].Status)
		assert.Less(t, s.took, 10*time.Second)
	}
}

// If a token endpoint requests a wait, no request is sent before its end: the call waits, or fails
// if the wait would be too long.
func TestTokenEndpointSaysWhen(t *testing.T) {
	for form, status := range map[RetryAfter]int{Seconds: 429, Date: 503, ResetUnix: 429} {
		plan := smallPlan(HTTP1)
		plan.Auth = OAuth
		plan.Faults = []Fault{
			{Origin: "token", Attempt: 1, At: AtBefore, Kind: Respond, Status: status, RetryAfter: form, Wait: 20 * time.Second},
			{Origin: "token", Attempt: 3, At: AtBefore, Kind: Respond, Status: status, RetryAfter: form, Wait: time.Hour},
		}
		run(t, plan, func(w *World) {
			time.Sleep(3 * time.Hour) // the token has expired
			start := w.Now()
			_, err := operations["get"](w)
			require.NoError(t, err)
			wire := w.Wire()
			require.Len(t, wire, 3)
			assert.GreaterOrEqual(t, wire[1].Began-start, 19*time.Second, form)

			time.Sleep(3 * time.Hour)
			start = w.Now()
			_, err = operations["get"](w)
			require.ErrorIs(t, err, forge.ErrNoCredential)
			require.ErrorContains(t, err, "the server asks to wait")
			assert.Less(t, w.Now()-start, time.Second)
			assert.Len(t, w.Wire(), 4)
		})
	}
}

// If a proxy requests a wait, no request is sent before its end, neither for a call nor for a
// token.
func TestProxySaysWhen(t *testing.T) {
	for _, auth := range []AuthKind{PersonalToken, OAuth} {
		plan := smallPlan(TLS)
		plan.Auth, plan.Proxy = auth, true
		plan.Faults = []Fault{{
			Origin: "proxy", Call: "*", Attempt: 1, At: AtBefore, Kind: Respond, Status: 503, RetryAfter: Seconds, Wait: 20 * time.Second,
		}}
		run(t, plan, func(w *World) {
			time.Sleep(3 * time.Hour) // an OAuth token has expired
			start := w.Now()
			_, err := operations["get"](w)
			require.NoError(t, err)
			wire := w.Wire()
			require.GreaterOrEqual(t, len(wire), 3)
			assert.GreaterOrEqual(t, wire[1].Began-start, 20*time.Second, auth)
		})
	}
}
