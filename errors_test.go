package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		{0, "", "the call failed"},
		{0, "the server said no", "the server said no"},
	} {
		e := &Error{Method: "GET", Route: "/user", Status: test.status, Message: test.message}
		assert.Equal(t, "forge: GET /user: "+test.says, e.Error())
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

func TestValidationErrorText(t *testing.T) {
	for want, err := range map[string]*ValidationError{
		"forge: GET /projects/:id/x: argument project (:id): 0 is not positive; nothing was sent":       {Route: "GET /projects/:id/x", Option: "argument", Param: "id", Reason: "0 is not positive"},
		"forge: GET /registry/repositories/:id: argument repository (:id): it is nil; nothing was sent": {Route: "GET /registry/repositories/:id", Option: "argument", Param: "id", Reason: "it is nil"},
		"forge: GET /audit_events/:id: argument audit event (:id): it is nil; nothing was sent":         {Route: "GET /audit_events/:id", Option: "argument", Param: "id", Reason: "it is nil"},
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

// errors.Join writes two causes on two lines; the text of a call separates them on one line.
func TestErrorTextOfTwoCauses(t *testing.T) {
	err := &Error{Method: "GET", Route: "/user", cause: errors.Join(io.ErrUnexpectedEOF, context.DeadlineExceeded)}
	assert.EqualError(t, err, "forge: GET /user: unexpected EOF; context deadline exceeded")
}

// The text of an error that a program creates contains the fields that are set.
func TestErrorsByHand(t *testing.T) {
	for _, err := range []error{
		&Error{}, &Error{Status: 404}, &Error{Method: "GET"}, &Error{Route: "/user"}, &Error{Path: "/user"}, &Error{Message: "x"}, &Error{Fields: map[string][]string{"": nil}}, &Error{Attempts: -1}, &Error{Status: -1},
		&Error{MaybeApplied: true}, &Error{RequestID: "x"}, &RateLimitError{}, &RateLimitError{Until: time.Unix(1, 0)}, &RateLimitError{Err: &Error{}}, &ValidationError{}, &ValidationError{Param: "x"}, &ValidationError{Option: "argument"},
	} {
		var text string
		require.NotPanics(t, func() {
			text = err.Error()
			_ = errors.Unwrap(err)
			_ = errors.Is(err, ErrNotFound)
			_ = errors.Is(err, context.Canceled)
			_ = IsNotModified(err)
			var failed *Error
			var limited *RateLimitError
			_ = errors.As(err, &failed)
			_ = errors.As(err, &limited)
			text += fmt.Sprintf("%v %+v %q", err, err, err)
		}, "%T", err)
		assert.True(t, strings.HasPrefix(text, "forge:"), text)
	}
}
