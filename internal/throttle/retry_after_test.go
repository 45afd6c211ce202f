package throttle

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// header returns a header from pairs of names and values.
func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// Retry-After is a number of seconds, or a date by the server's clock. Without it the reset time of
// a 429 is used. A value that is not a time is ignored.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	const skewed = "Mon, 02 Jan 2034 15:04:00 GMT" // the server's clock, far from this one
	for _, test := range []struct {
		name   string
		status int
		header http.Header
		want   time.Duration
	}{
		{"seconds", 429, header("Retry-After", "7"), 7 * time.Second},
		{"seconds on 503", 503, header("Retry-After", " 7 "), 7 * time.Second},
		{"date", 503, header("Retry-After", "Fri, 20 Nov 2026 10:00:05 GMT"), 5 * time.Second},
		{"date by the server's clock", 429, header("Date", skewed, "Retry-After", "Mon, 02 Jan 2034 15:04:05 GMT"), 5 * time.Second},
		{"date in the past", 429, header("Date", skewed, "Retry-After", "Mon, 02 Jan 2034 15:03:05 GMT"), 0},
		{"negative", 429, header("Retry-After", "-5"), 0},
		{"garbage", 429, header("Retry-After", "soon"), 0},
		{"garbage and reset", 429, header("Retry-After", "x", "Ratelimit-Reset", "9"), 9 * time.Second},
		{"none", 429, header(), 0},
		{"absurd", 429, header("Retry-After", "1"+strings.Repeat("0", 30)), 10 * 365 * 24 * time.Hour},
		{"reset", 429, header("Ratelimit-Reset", fmt.Sprint(now.Unix()+9)), 9 * time.Second},
		{"reset by the server's clock", 429, header("Date", skewed, "Ratelimit-Reset", "2019827049"), 9 * time.Second},
		{"reset as seconds", 429, header("Ratelimit-Reset", "9"), 9 * time.Second},
		{"reset in the past", 429, header("Ratelimit-Reset", fmt.Sprint(now.Unix()-9)), 0},
		{"reset of another status", 503, header("Ratelimit-Reset", "9"), 0},
		{"Retry-After before reset", 429, header("Retry-After", "7", "Ratelimit-Reset", "9"), 7 * time.Second},
	} {
		assert.Equal(t, test.want, RetryAfter(test.status, test.header, now), test.name)
	}
	reset, ok := RateLimitReset(header("Ratelimit-Reset", "0"), now)
	assert.True(t, ok && reset.Equal(now), "it begins again now")
}

// FuzzRetryAfter checks that for all headers the wait is not negative and its end is a valid time.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "1", "0", "-1", "1e9", "99999999999999999999999999999999", "Fri, 20 Nov 2026 10:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", " 5 "} {
		f.Add(s, "Fri, 20 Nov 2026 10:00:00 GMT", "1800000000")
		f.Add("", s, s)
	}
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, retryAfter, date, reset string) {
		h := http.Header{"Retry-After": {retryAfter}, "Date": {date}, "Ratelimit-Reset": {reset}, "Ratelimit-Limit": {reset}}
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			wait := RetryAfter(status, h, now)
			require.GreaterOrEqual(t, wait, time.Duration(0))
			require.False(t, now.Add(wait).Before(now), "the time overflows")
		}
		if trimmed := strings.TrimSpace(retryAfter); len(trimmed) > 0 && len(trimmed) < 9 && strings.Trim(trimmed, "0123456789") == "" {
			var seconds int
			_, err := fmt.Sscanf(trimmed, "%d", &seconds)
			require.NoError(t, err)
			require.Equal(t, time.Duration(seconds)*time.Second, RetryAfter(http.StatusServiceUnavailable, h, now))
		}
		if reset, ok := RateLimitReset(h, now); ok {
			require.False(t, reset.Before(time.Unix(1<<30, 0)), "a small number is one of seconds")
		}
	})
}
