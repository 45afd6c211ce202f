package forge

import (
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// calledFrom reports whether a function of the package is among the callers.
func calledFrom(pkg string) bool {
	counters := make([]uintptr, 200)
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters)])
	for frame, more := frames.Next(); ; frame, more = frames.Next() {
		if strings.HasPrefix(frame.Function, pkg+".") {
			return true
		}
		if !more {
			return false
		}
	}
}

// callerFilter is a filter that records whether a package calls its encoder.
type callerFilter func(called bool)

func (callerFilter) useLabelsOrNoneOrAny() {}

func (f callerFilter) EncodeValues(string, *url.Values) error {
	f(calledFrom("github.com/google/go-querystring/query"))
	return nil
}

// The libraries that the module links do their work: go-retryablehttp makes the attempts,
// go-querystring encodes options, and x/oauth2 refreshes tokens.
func TestLibrariesDoTheirWork(t *testing.T) {
	encodes, loops, refreshes := false, true, false
	w := newWire(t, script(say(http.StatusServiceUnavailable, ""), say(http.StatusUnauthorized, ""), sayJSON(`{"access_token":"new"}`), sayJSON("[]")))
	c, err := NewClient(w.url, WithRetry(impatient), through(func(req *http.Request) (*http.Response, error) {
		if req.URL.Path == "/oauth/token" {
			refreshes = calledFrom("golang.org/x/oauth2")
		} else {
			loops = loops && calledFrom("github.com/hashicorp/go-retryablehttp")
		}
		return http.DefaultTransport.RoundTrip(req)
	}), WithOAuth(&oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{TokenURL: w.url + "/oauth/token", AuthStyle: oauth2.AuthStyleInParams}},
		&oauth2.Token{AccessToken: "old", RefreshToken: "r1", Expiry: time.Now().Add(time.Hour)}))
	require.NoError(t, err)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	_, err = Collect(c.Issues.List(t.Context(), &ListIssuesOptions{Labels: callerFilter(func(called bool) { encodes = called })}))
	require.NoError(t, err)
	assert.True(t, encodes, "go-querystring encodes the options")
	assert.True(t, loops, "go-retryablehttp makes every attempt, the first one included")
	assert.True(t, refreshes, "x/oauth2 exchanges the refresh token")
}
