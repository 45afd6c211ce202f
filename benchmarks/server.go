package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// server responds with documents that were built before, so that it uses little CPU time. The first
// part of the path has its settings, joined by dots: /n10000.d20.gz/ is a list of 10,000 items,
// sent after 20 ms and gzipped.
type server struct {
	issues, github, events, zipped *pages
	issue, githubIssue             []byte
	buffers                        sync.Pool
	opened                         atomic.Int64
	fixed                          *fixed
}

func newServer() *server {
	s := &server{
		issues: pagesOf(issue), github: pagesOf(githubIssue), events: pagesOf(event), issue: []byte(issue(0)), githubIssue: []byte(githubIssue(0)),
		zipped: new(pages), fixed: newFixed(), buffers: sync.Pool{New: func() any { return new([256 << 10]byte) }},
	}
	for i := range s.zipped {
		s.zipped[i] = sync.OnceValue(func() []byte { return compress(s.issues.at(i)) })
	}
	return s
}

// settings are read from the first part of a path.
type settings struct {
	total int
	delay time.Duration
	gzip  bool
}

// serve runs the server process. It ends when its standard input is closed.
func serve(ctx context.Context) error {
	s := newServer()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute, ConnState: s.countNew}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = srv.Close()
	}()
	fmt.Println("http://" + listener.Addr().String())
	_ = srv.Serve(listener) // it returns when the server is closed
	return nil
}

// startServer runs the server in a separate process.
func startServer(ctx context.Context) (address string, stop func(), err error) {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), roleEnv+"=server"), os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	if _, err := fmt.Fscanln(output, &address); err != nil {
		return "", nil, err
	}
	return address, func() {
		_ = input.Close()
		_ = cmd.Wait()
	}, nil
}

// ServeHTTP responds as the path selects.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	first, rest, _ := strings.Cut(r.URL.Path[1:], "/")
	set := readSettings(first)
	if set.delay > 0 {
		time.Sleep(set.delay)
	}
	w.Header().Set("X-Request-Id", "01HZY3V4W5X6Y7Z8A9B0C1D2E3")
	switch {
	case s.fixed.respond(w, r):
	case first == "tls1" || first == "tls2":
		s.sendTLS(w, first == "tls2")
	case first == "opened":
		_, _ = fmt.Fprint(w, s.opened.Swap(0))
	case r.Method == http.MethodPost && strings.HasSuffix(rest, "/secure_files"):
		n := s.discard(r.Body)
		answer(w, fmt.Appendf(nil, `{"id":%d,"name":"archive","checksum":"16630b189ab34b2e3504f4758e1054d2","checksum_algorithm":"sha256"}`, n>>10))
	case strings.HasSuffix(rest, "/repository/archive"):
		sendArchive(w)
	case path.Base(rest) == "audit_events":
		s.keyset(w, r, set)
	case strings.HasSuffix(rest, "repos/o/r/issues"):
		s.offset(w, r, set, s.github)
	case path.Base(rest) == "issues" && set.gzip:
		w.Header().Set("Content-Encoding", "gzip")
		s.offset(w, r, set, s.zipped)
	case path.Base(rest) == "issues":
		s.offset(w, r, set, s.issues)
	case strings.HasSuffix(rest, "repos/o/r/issues/1"):
		answer(w, s.githubIssue)
	case strings.HasSuffix(rest, "/subscribe"):
		answer(w, s.issue)
	default:
		answer(w, []byte("{}")) // requests that a client sends by itself
	}
}

func readSettings(text string) (set settings) {
	for word := range strings.SplitSeq(text, ".") {
		switch {
		case word == "gz":
			set.gzip = true
		case strings.HasPrefix(word, "n"):
			set.total, _ = strconv.Atoi(word[1:])
		case strings.HasPrefix(word, "d"):
			ms, _ := strconv.Atoi(word[1:])
			set.delay = time.Duration(ms) * time.Millisecond
		}
	}
	return set
}

// offset responds with the page of the requested number.
func (s *server) offset(w http.ResponseWriter, r *http.Request, set settings, of *pages) {
	query := r.URL.Query()
	number, last := max(1, atoi(query.Get("page"))), set.total/perPage
	h := w.Header()
	h.Set("X-Page", strconv.Itoa(number))
	h.Set("X-Per-Page", strconv.Itoa(perPage))
	if set.total <= 10_000 { // above it servers send no totals
		h.Set("X-Total", strconv.Itoa(set.total))
		h.Set("X-Total-Pages", strconv.Itoa(last))
	}
	if number < last {
		query.Set("page", strconv.Itoa(number+1))
		h.Set("X-Next-Page", strconv.Itoa(number+1))
		h.Set("Link", fmt.Sprintf(`<http://%s/%s?%s>; rel="next"`, r.Host, r.URL.Path[1:], query.Encode()))
	}
	answer(w, of.at(number-1))
}

// keyset responds with the page after the cursor. As servers do, it links to a next page after each
// full one, so the last page is empty.
func (s *server) keyset(w http.ResponseWriter, r *http.Request, set settings) {
	query := r.URL.Query()
	number := atoi(query.Get("cursor"))
	if number >= set.total/perPage {
		answer(w, []byte("[]"))
		return
	}
	query.Set("cursor", strconv.Itoa(number+1))
	w.Header().Set("Link", fmt.Sprintf(`<http://%s/%s?%s>; rel="next"`, r.Host, r.URL.Path[1:], query.Encode()))
	answer(w, s.events.at(number))
}

// discard reads a body in large steps, so that a contender does not wait for the server.
func (s *server) discard(body io.Reader) int64 {
	buffer := s.buffers.Get().(*[256 << 10]byte)
	defer s.buffers.Put(buffer)
	n, _ := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{body}, buffer[:])
	return n
}

func atoi(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

func answer(w http.ResponseWriter, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text)
}

// sendArchive sends 1 GiB.
func sendArchive(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/gzip")
	w.Header().Set("Content-Length", strconv.Itoa(archive))
	block := make([]byte, 1<<20)
	for range archive / len(block) {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func compress(page []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(page)
	_ = z.Close()
	return b.Bytes()
}
