package forge

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The text of an error states each fact once. Message has the complete message of the server.
func TestErrorText(t *testing.T) {
	for _, test := range []struct {
		status        int
		message, says string
	}{
		{404, "404 Not Found", "404 Not Found"},
		{404, "404 Not found", "404 Not Found"},
		{404, "Not Found", "404 Not Found"},
		{404, "404 Group Not Found", "404 Not Found: Group Not Found"},
		{401, "401 Unauthorized", "401 Unauthorized"},
		{403, "403 Forbidden - protected tag", "403 Forbidden: Forbidden - protected tag"},
		{400, "404 Project Not Found", "400 Bad Request: 404 Project Not Found"},
		{404, "4040 is no id", "404 Not Found: 4040 is no id"},
		{409, "", "409 Conflict"},
		{599, "599 odd", "599: odd"},
		{521, "521 Server Is Down", "521 Server Is Down"},
		{0, "", "the call failed"},
		{0, "the server said no", "the server said no"},
	} {
		e := &Error{Method: "GET", Route: "/user", Status: test.status, Message: test.message}
		assert.Equal(t, "forge: GET /user: "+test.says, e.Error())
		e.Attempts = 2
		assert.Equal(t, "forge: GET /user: "+test.says+" (2 attempts)", e.Error())
		assert.Equal(t, test.message, e.Message)
	}
}

// The error of a call that is delayed and not sent ends with this fact, as that of a refused call
// does.
func TestRateLimitErrorText(t *testing.T) {
	until := time.Date(2026, 3, 4, 9, 30, 0, 0, time.UTC)
	held := &Error{Method: "GET", Route: "/user", cause: errors.New("the server has asked to wait")}
	sent := &Error{Method: "GET", Route: "/user", Status: http.StatusTooManyRequests, Attempts: 1}
	for want, err := range map[string]*RateLimitError{
		"forge: GET /user: the server has asked to wait; try again after 2026-03-04T09:30:00Z; nothing was sent": {until, held},
		"forge: GET /user: 429 Too Many Requests; try again after 2026-03-04T09:30:00Z":                          {until, sent},
		"forge: GET /user: 400 Bad Request; it is possible again by 2026-03-04T09:30:00Z at the latest":          {until, &Error{Method: "GET", Route: "/user", Status: 400, Attempts: 1}},
		"forge: GET /user: 429 Too Many Requests; the server did not say when: try again later, and less often":  {time.Time{}, sent},
	} {
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, ErrRateLimited)
		require.NotErrorIs(t, err, ErrServer)
	}
}

// The text of an error has at most 8 KiB in all, however long its parts are. It keeps what the call
// was, whether it may have been applied, and what to do.
func TestErrorTextIsBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		long := func(name string) string {
			return strings.Repeat(rapid.SampledFrom([]string{"a", "ü", "€", "a b/"}).Draw(rt, name), rapid.SampledFrom([]int{0, 1, 600, 3000, 20_000}).Draw(rt, name+" length"))
		}
		e := &Error{
			Method: "PUT", Route: "/projects" + long("route"), Path: "/projects/" + long("path"), Status: rapid.SampledFrom([]int{0, 403, 429}).Draw(rt, "status"), Message: long("message"),
			RequestID: "id", Attempts: 3, MaybeApplied: true, hint: "do this", cause: errors.New(long("cause")),
		}
		limited := &RateLimitError{Until: time.Unix(0, 0), Err: e}
		invalid := &ValidationError{Route: "GET " + e.Route, Path: e.Path, Option: "Option" + long("option"), Param: long("param"), Reason: long("reason")}
		for end, err := range map[string]error{"before sending it again; do this": e, "; try again after 1970-01-01T00:00:00Z": limited, "; nothing was sent": invalid} {
			text := err.Error()
			require.LessOrEqual(rt, len(text), 8<<10)
			require.True(rt, utf8.ValidString(text))
			require.True(rt, strings.HasSuffix(text, end), "%.100q", text[max(0, len(text)-100):])
			require.Regexp(rt, `^forge: (PUT|GET) /projects`, text)
		}
	})
	require.LessOrEqual(t, len((&Error{hint: strings.Repeat("a", 20_000)}).Error()), 8<<10)
	text := limitedText(strings.Repeat("a", 20_000), strings.Repeat("b", 20_000), strings.Repeat("c", 20_000))
	require.Equal(t, strings.Repeat("a", 4093)+"...: "+strings.Repeat("b", 2043)+"..."+strings.Repeat("c", 2045)+"...", text)
}

func TestValidationErrorText(t *testing.T) {
	for want, err := range map[string]*ValidationError{
		"forge: GET /projects/:id/x: argument project (:id): 0 is not positive; nothing was sent":       {Route: "GET /projects/:id/x", Option: "argument", Param: "id", Reason: "0 is not positive"},
		"forge: GET /registry/repositories/:id: argument repository (:id): it is nil; nothing was sent": {Route: "GET /registry/repositories/:id", Option: "argument", Param: "id", Reason: "it is nil"},
		"forge: GET /audit_events/:id: argument audit event (:id): it is nil; nothing was sent":         {Route: "GET /audit_events/:id", Option: "argument", Param: "id", Reason: "it is nil"},
		"forge: PUT /runners/:id: Options (id): it is nil; nothing was sent":                            {Route: "PUT /runners/:id", Option: "Options", Param: "id", Reason: "it is nil"},
		"forge: PUT /runners/:id: argument key: it is nil; nothing was sent":                            {Route: "PUT /runners/:id", Option: "argument", Param: "key", Reason: "it is nil"},
		"forge: argument id: it is nil; nothing was sent":                                               {Option: "argument", Param: "id", Reason: "it is nil"},
		"forge: Scope (scope): it is bad; nothing was sent":                                             {Option: "Scope", Param: "scope", Reason: "it is bad"},
		"forge: scope_param: it is bad; nothing was sent":                                               {Param: "scope_param", Reason: "it is bad"},
		"forge: scope: it is bad; nothing was sent":                                                     {Option: "scope", Param: "scope", Reason: "it is bad"},
		"forge: Sudo: it is bad; nothing was sent":                                                      {Option: "Sudo", Reason: "it is bad"},
	} {
		assert.EqualError(t, err, want)
	}
	_, err := bubbleClient(t).Issues.GetTimeStats(t.Context(), Path("group/app"), 0)
	assert.EqualError(t, err, "forge: GET /projects/:id/issues/:issue_iid/time_stats: argument issue_iid: 0 is not positive; nothing was sent")
}

// Errors that a program creates match the sentinel of their status, and print without holes whatever
// is set.
func TestErrorsByHand(t *testing.T) {
	for status := -1; status < 700; status++ {
		err := error(&Error{Status: status})
		for _, sentinel := range []error{ErrNotModified, ErrBadRequest, ErrUnauthorized, ErrForbidden, ErrNotFound, ErrConflict, ErrURITooLong, ErrUnprocessable, ErrRateLimited, ErrServer, ErrInvalidResponse} {
			assert.Equal(t, errors.Is(sentinelFor(status), sentinel), errors.Is(err, sentinel), "%d: %s", status, sentinel)
		}
	}
	assert.ErrorIs(t, &Error{Status: 404}, ErrNotFound)
	assert.ErrorIs(t, &Error{Status: 304}, ErrNotModified)
	for cause, late := range map[error]bool{
		&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}: false, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}: true,
		&net.DNSError{IsNotFound: true}: false, context.DeadlineExceeded: true, ErrTimeout: true, io.EOF: false,
		errors.Join(&net.OpError{Op: "read", Err: io.EOF}, context.DeadlineExceeded): true,
	} {
		assert.Equal(t, late, (&Error{cause: cause}).Timeout(), cause)
	}
	for err, want := range map[error]string{
		&Error{}: "forge: the call failed",
		&Error{cause: errors.New("a\nb\x1b[31m")}: "forge: a; b[31m",
		&Error{Status: 404}:                       "forge: 404 Not Found",
		&Error{Path: "/user"}:                     "forge: /user: the call failed",
		&Error{Method: "GET", Status: 404, Message: "404 Project Not Found"}: "forge: GET: 404 Not Found: Project Not Found",
		&Error{Status: -1}:                           "forge: -1",
		&Error{MaybeApplied: true}:                   "forge: the call failed; the write may have been applied: check before sending it again",
		&Error{MaybeApplied: true, idempotent: true}: "forge: the call failed; the write may have been applied: sending it again is safe",
		&Error{idempotent: true}:                     "forge: the call failed",
		(*Error)(nil):                                "forge: no error",
		&RateLimitError{}:                            "forge: rate limited; the server did not say when: try again later, and less often",
		&RateLimitError{Until: time.Unix(1, 0)}:      "forge: rate limited; try again after 1970-01-01T00:00:01Z",
		&RateLimitError{Err: &Error{}}:               "forge: rate limited; the server did not say when: try again later, and less often; nothing was sent",
		&RateLimitError{Until: time.Unix(1, 0), Err: &Error{Status: 429}}: "forge: 429 Too Many Requests; try again after 1970-01-01T00:00:01Z",
		(*RateLimitError)(nil):                          "forge: no error",
		&ValidationError{}:                              "forge: the call is not valid; nothing was sent",
		&ValidationError{Reason: "it is bad"}:           "forge: it is bad; nothing was sent",
		&ValidationError{Path: "/user", Option: "Sudo"}: "forge: /user: Sudo; nothing was sent",
		(*ValidationError)(nil):                         "forge: no error",
	} {
		assert.EqualError(t, err, want)
		assert.NotErrorIs(t, err, context.Canceled)
	}
}

// A RateLimitError without a call is rate limited, and is not an Error.
func TestRateLimitErrorByHand(t *testing.T) {
	for _, limited := range []*RateLimitError{{}, {Until: time.Unix(1, 0)}, {Err: &Error{Status: 400}}} {
		require.ErrorIs(t, limited, ErrRateLimited)
		var failed *Error
		assert.Equal(t, limited.Err != nil, errors.As(limited, &failed))
		assert.Equal(t, limited.Err, failed)
	}
	text, err := json.Marshal(&RateLimitError{Until: time.Unix(1, 0).UTC(), Err: &Error{Method: "GET", Status: 429}})
	require.NoError(t, err)
	assert.Contains(t, string(text), `"Until":"1970-01-01T00:00:01Z","Err":{"Method":"GET"`)
}

// A response that cannot be used does not match the sentinel of its status, which is not an error.
func TestSentinelOfAnUnusableResponse(t *testing.T) {
	unusable := &Error{Status: 304, cause: &sentinelError{sentinel: ErrInvalidResponse, text: "no content"}}
	require.ErrorIs(t, unusable, ErrInvalidResponse)
	require.NotErrorIs(t, unusable, ErrNotModified)
	require.ErrorIs(t, &Error{Status: 503, cause: context.Canceled}, ErrServer)
	require.ErrorIs(t, &Error{Status: 503, cause: context.Canceled}, context.Canceled)
	require.ErrorIs(t, &Error{Status: 400, cause: context.Canceled}, ErrBadRequest)
}
