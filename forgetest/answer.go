package forgetest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// gzipAbove is the size from which JSON answers are compressed for clients that accept it.
const gzipAbove = 1024

// answer is what an endpoint answers. It is complete before anything is sent, except for a stream.
type answer struct {
	status int
	header http.Header
	body   []byte
	doc    any                   // written as JSON in place of body
	views  []string              // of the document; without them the first view of the endpoint
	words  map[string]string     // other names of its fields, see encoder
	stream func(io.Writer) error // written in place of body, outside the server's lock
	size   int64                 // of the stream; -1 when unknown
}

func (a *answer) set(key, value string) {
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set(key, value)
}

// ok answers 200 with a document, created 201.
func ok(doc any) answer      { return answer{status: http.StatusOK, doc: doc} }
func created(doc any) answer { return answer{status: http.StatusCreated, doc: doc} }

// as shows the document in views other than the endpoint's first.
func (a answer) as(views ...string) answer { a.views = views; return a }

// unchanged answers the 304 of a no-op.
func unchanged() answer { return answer{status: http.StatusNotModified} }

// failed answers {"message":"..."}, the form of most errors.
func failed(status int, format string, args ...any) answer {
	return answer{status: status, doc: map[string]any{"message": fmt.Sprintf(format, args...)}}
}

// refused answers {"error":"..."}, the form of routing and parameter errors.
func refused(status int, problems ...string) answer {
	return answer{status: status, doc: map[string]any{"error": strings.Join(problems, ", ")}}
}

// invalid answers 400 with {"message":{"field":["..."]}}, a failed validation (document 1 §7).
func invalid(field, problem string) answer {
	return answer{status: http.StatusBadRequest, doc: map[string]any{"message": map[string][]string{field: {problem}}}}
}

func missing(what string) answer { return failed(http.StatusNotFound, "404 %s Not Found", what) }

func plain(status int, text string) answer {
	a := answer{status: status, body: []byte(text)}
	a.set("Content-Type", "text/plain; charset=utf-8")
	return a
}

// tooMany is the plain-text 429 of the deployed server.
func tooMany(wait time.Duration, now time.Time, limit int) answer {
	a := plain(http.StatusTooManyRequests, "Retry later\n")
	seconds := int64(math.Ceil(wait.Seconds()))
	a.set("Retry-After", strconv.FormatInt(seconds, 10))
	a.set("RateLimit-Limit", strconv.Itoa(limit))
	a.set("RateLimit-Observed", strconv.Itoa(limit+1))
	a.set("RateLimit-Remaining", "0")
	a.set("RateLimit-Reset", strconv.FormatInt(now.Unix()+seconds, 10))
	return a
}

// render turns the document into bytes. The caller holds the server's lock: documents may change later.
func (a *answer) render(e encoder) {
	if a.doc == nil || a.body != nil {
		return
	}
	a.body = e.encode(a.doc)
	a.set("Content-Type", "application/json")
}

// gzipWriters are kept: each has a table of a megabyte.
var gzipWriters sync.Pool

// compress applies gzip to a large JSON body.
func (a *answer) compress(accepted string) {
	if len(a.body) <= gzipAbove || !strings.Contains(accepted, "gzip") || a.header.Get("Content-Type") != "application/json" {
		return
	}
	var b bytes.Buffer
	z, kept := gzipWriters.Get().(*gzip.Writer)
	if !kept {
		z, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed)
	}
	z.Reset(&b)
	_, _ = z.Write(a.body)
	_ = z.Close()
	gzipWriters.Put(z)
	a.body = b.Bytes()
	a.set("Content-Encoding", "gzip")
	a.set("Vary", "Accept-Encoding")
}

// send writes the answer.
func (a *answer) send(w http.ResponseWriter) {
	for key, values := range a.header {
		w.Header()[key] = values
	}
	switch {
	case a.stream == nil && a.status != http.StatusNotModified && a.status != http.StatusNoContent:
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	case a.stream != nil && a.size >= 0:
		w.Header().Set("Content-Length", strconv.FormatInt(a.size, 10))
	}
	w.WriteHeader(a.status)
	if a.stream == nil {
		_, _ = w.Write(a.body)
		return
	}
	if err := a.stream(w); err != nil {
		panic(http.ErrAbortHandler)
	}
}
