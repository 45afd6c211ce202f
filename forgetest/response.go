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

// gzipAbove is the size from which JSON bodies are compressed for clients that accept it.
const gzipAbove = 1024

// response is the response of an endpoint. It is complete before anything is sent, except for a
// stream.
type response struct {
	status     int
	header     http.Header
	body       []byte
	doc        any                   // sent as JSON instead of body
	views      []string              // of the document; by default the first view of the endpoint
	fieldNames map[string]string     // other names of its fields, see encoder
	stream     func(io.Writer) error // sent instead of body, outside the server's lock
	size       int64                 // of the stream; -1 when unknown
	stop       func()                // ends a stream that was not sent completely; may be nil
}

func (a *response) set(key, value string) {
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set(key, value)
}

// ok returns a 200 with a document, created a 201.
func ok(doc any) response      { return response{status: http.StatusOK, doc: doc} }
func created(doc any) response { return response{status: http.StatusCreated, doc: doc} }

// as selects views instead of the endpoint's first view.
func (a response) as(views ...string) response { a.views = views; return a }

// notModified returns the 304 of a call that changes nothing.
func notModified() response { return response{status: http.StatusNotModified} }

// failure returns {"message":"..."}, the form of most errors.
func failure(status int, format string, args ...any) response {
	return response{status: status, doc: map[string]any{"message": fmt.Sprintf(format, args...)}}
}

// rejected returns {"error":"..."}, the form of routing and parameter errors.
func rejected(status int, problems ...string) response {
	return response{status: status, doc: map[string]any{"error": strings.Join(problems, ", ")}}
}

// invalid returns a 400 with {"message":{"field":["..."]}}, a failed validation (Document 1 §7).
func invalid(field, problem string) response {
	return response{status: http.StatusBadRequest, doc: map[string]any{"message": map[string][]string{field: {problem}}}}
}

func notFound(what string) response { return failure(http.StatusNotFound, "404 %s Not Found", what) }

func plain(status int, text string) response {
	a := response{status: status, body: []byte(text)}
	a.set("Content-Type", "text/plain; charset=utf-8")
	return a
}

// tooManyRequests returns the plain-text 429 of the deployed server.
func tooManyRequests(wait time.Duration, now time.Time, limit int) response {
	a := plain(http.StatusTooManyRequests, "Retry later\n")
	seconds := int64(math.Ceil(wait.Seconds()))
	a.set("Retry-After", strconv.FormatInt(seconds, 10))
	a.set("RateLimit-Limit", strconv.Itoa(limit))
	a.set("RateLimit-Observed", strconv.Itoa(limit+1))
	a.set("RateLimit-Remaining", "0")
	a.set("RateLimit-Reset", strconv.FormatInt(now.Unix()+seconds, 10))
	return a
}

// encode encodes the document into the body. The caller holds the server's lock, since documents
// change when it is released.
func (a *response) encode(e encoder) {
	if a.doc == nil || a.body != nil {
		return
	}
	a.body = e.encode(a.doc)
	a.set("Content-Type", "application/json")
}

// gzipWriters is a pool, since each writer has tables of about a megabyte.
var gzipWriters sync.Pool

// compress applies gzip to a large JSON body.
func (a *response) compress(accepted string) {
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

// send writes the response.
func (a *response) send(w http.ResponseWriter) {
	for key, values := range a.header {
		w.Header()[key] = values
	}
	size := a.size
	if a.stream == nil {
		size = int64(len(a.body))
	}
	hasBody := a.status != http.StatusNotModified && a.status != http.StatusNoContent
	if hasBody && size >= 0 && w.Header().Get("Content-Length") == "" { // unless the handler of Handle set it
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
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
