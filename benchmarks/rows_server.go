package main

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// rowServer has the documents of the rows that its files define.
type rowServer struct {
	changes, version, page func() []byte
	faulty                 atomic.Int64 // requests of the row with faults
}

func newRowServer() *rowServer {
	return &rowServer{
		changes: sync.OnceValue(func() []byte { return changesDocument(changesFormat) }),
		version: sync.OnceValue(func() []byte { return changesDocument(versionFormat) }),
		page:    sync.OnceValue(shortPage),
	}
}

// respond responds to the requests of these rows, and reports whether the request was one.
func (s *rowServer) respond(w http.ResponseWriter, r *http.Request) bool {
	first, rest, _ := strings.Cut(r.URL.Path[1:], "/")
	if strings.HasPrefix(first, "faults") && s.fail(w) {
		return true
	}
	switch {
	case strings.HasSuffix(rest, "/changes"):
		answer(w, s.changes())
	case strings.HasSuffix(rest, "/versions/110"):
		answer(w, s.version())
	case strings.Contains(rest, "/registry/repositories/7/tags/"):
		answer(w, []byte(tagDocument))
	case strings.HasSuffix(rest, "/resource_groups/production"):
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, []byte(resourceText))
	case strings.HasSuffix(rest, "/add_spent_time"):
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, []byte(statsText))
	case strings.HasSuffix(rest, "/issues") && strings.Contains(r.URL.RawQuery, "per_page=20"):
		answer(w, s.page())
	default:
		return false
	}
	return true
}

// fail fails some of the requests, and reports whether it has: each 50th with 503, and each 70th by
// closing the connection without a response.
func (s *rowServer) fail(w http.ResponseWriter) bool {
	switch n := s.faulty.Add(1); {
	case n%50 == 0:
		http.Error(w, `{"message":"503 Service Unavailable"}`, http.StatusServiceUnavailable)
	case n%70 == 0:
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}
