package main

import (
	"net/http"
	"strings"
	"sync"
)

// rowServer has the documents of the rows in files of their own.
type rowServer struct {
	changes, version func() []byte
}

func newRowServer() *rowServer {
	return &rowServer{
		changes: sync.OnceValue(func() []byte { return changesDocument(changesFormat) }),
		version: sync.OnceValue(func() []byte { return changesDocument(versionFormat) }),
	}
}

// respond responds to the requests of these rows, and reports whether the request was one.
func (s *rowServer) respond(w http.ResponseWriter, r *http.Request) bool {
	switch _, rest, _ := strings.Cut(r.URL.Path[1:], "/"); {
	case strings.HasSuffix(rest, "/changes"):
		answer(w, s.changes())
	case strings.HasSuffix(rest, "/versions/110"):
		answer(w, s.version())
	default:
		return false
	}
	return true
}
