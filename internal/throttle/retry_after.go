package throttle

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter returns the wait that the headers of a response request: Retry-After in seconds or as
// a date, or else, of a 429, the reset time of the rate limit. Dates are compared with the Date of
// the response, so that a wrong clock on either side does no harm. It returns 0 if there is none.
func RetryAfter(status int, h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" && h.Get("Ratelimit-Reset") == "" { // the errors below would be allocated
		return 0
	}
	if seconds, ok := readSeconds(text); ok {
		return seconds
	}
	if server, err := http.ParseTime(h.Get("Date")); err == nil {
		now = server
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, date.Sub(now))
	}
	if reset, _ := RateLimitReset(h, now); status == http.StatusTooManyRequests {
		return max(0, reset.Sub(now))
	}
	return 0
}

// readSeconds reads a number of seconds. It returns ten years for larger ones, which could
// overflow.
func readSeconds(text string) (time.Duration, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	const longest = 10 * 365 * 24 * 3600
	seconds, _ := strconv.ParseInt(text, 10, 64) // the largest number if it is out of range
	return time.Duration(min(seconds, longest)) * time.Second, true
}

// RateLimitReset returns the time in RateLimit-Reset, which is a Unix time on this platform and a
// number of seconds elsewhere: it is read as a Unix time if it is large.
func RateLimitReset(h http.Header, now time.Time) (time.Time, bool) {
	text := h.Get("Ratelimit-Reset")
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || n < 0 || n > 1<<40:
		return time.Time{}, false
	case n > 1<<29: // the year 1987: the clock of a bubble of testing/synctest begins in 2000
		return time.Unix(n, 0), true
	}
	return now.Add(time.Duration(n) * time.Second), true
}
