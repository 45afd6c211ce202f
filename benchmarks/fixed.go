package main

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// fixed has the responses that are the same for each request.
type fixed struct {
	changes, version, page func() []byte
	faulty                 atomic.Int64 // requests of the row with faults
}

func newFixed() *fixed {
	return &fixed{
		changes: sync.OnceValue(func() []byte { return changesDocument(changesFormat) }),
		version: sync.OnceValue(func() []byte { return changesDocument(versionFormat) }),
		page:    sync.OnceValue(shortPage),
	}
}

// respond responds to the requests for these, and reports whether the request was one.
func (f *fixed) respond(w http.ResponseWriter, r *http.Request) bool {
	first, rest, _ := strings.Cut(r.URL.Path[1:], "/")
	if strings.HasPrefix(first, "faults") && f.fail(w) {
		return true
	}
	switch {
	case strings.HasSuffix(rest, "/changes"):
		answer(w, f.changes())
	case strings.HasSuffix(rest, "/versions/110"):
		answer(w, f.version())
	case strings.Contains(rest, "/registry/repositories/7/tags/"):
		answer(w, []byte(tagDocument))
	case strings.HasSuffix(rest, "/resource_groups/production"):
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, []byte(groupDocument))
	case strings.HasSuffix(rest, "/add_spent_time"):
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, []byte(statsDocument))
	case strings.HasSuffix(rest, "/issues") && strings.Contains(r.URL.RawQuery, "per_page=20"):
		answer(w, f.page())
	default:
		return false
	}
	return true
}

// fail fails some of the requests, and reports whether it has: each 50th with 503, and each 70th by
// closing the connection without a response.
func (f *fixed) fail(w http.ResponseWriter) bool {
	switch n := f.faulty.Add(1); {
	case n%50 == 0:
		http.Error(w, `{"message":"503 Service Unavailable"}`, http.StatusServiceUnavailable)
	case n%70 == 0:
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}
