package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// server responds with documents that were built before, so that it uses little CPU time. The first
// part of the path has its settings, joined by dots: /n10000.d20/ is a list of 10,000 items, sent
// after 20 ms.
type server struct {
	pages       [distinct]func() []byte
	issue, page []byte
}

const distinct = 100 // pages; longer lists use them again

func newServer() *server {
	s := &server{issue: []byte(issue(0)), page: issuePage(0, mixedPage)}
	for i := range s.pages {
		s.pages[i] = sync.OnceValue(func() []byte { return issuePage(i, perPage) })
	}
	return s
}

// serve runs the server process. It ends when its standard input is closed.
func serve(ctx context.Context) error {
	s := newServer()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
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
	total := 0
	for word := range strings.SplitSeq(first, ".") {
		if n := atoi(word[min(1, len(word)):]); strings.HasPrefix(word, "n") {
			total = n
		} else if strings.HasPrefix(word, "d") {
			time.Sleep(time.Duration(n) * time.Millisecond)
		}
	}
	w.Header().Set("X-Request-Id", "01HZY3V4W5X6Y7Z8A9B0C1D2E3")
	_, _ = io.Copy(io.Discard, r.Body)
	switch {
	case strings.HasSuffix(rest, "/repository/archive"):
		sendArchive(w)
	case strings.HasSuffix(rest, "/issues") && strings.Contains(r.URL.RawQuery, "per_page=20"):
		answer(w, s.page)
	case strings.HasSuffix(rest, "/issues"):
		s.offset(w, r, total)
	case strings.HasSuffix(rest, "/subscribe"):
		answer(w, s.issue)
	case strings.Contains(rest, "/registry/repositories/7/tags/"):
		answer(w, []byte(tagDocument))
	case strings.HasSuffix(rest, "/resource_groups/production"):
		answer(w, []byte(groupDocument))
	case strings.HasSuffix(rest, "/add_spent_time"):
		answer(w, []byte(statsDocument))
	default:
		answer(w, []byte("{}")) // requests that a client sends by itself
	}
}

// offset responds with the page of the requested number.
func (s *server) offset(w http.ResponseWriter, r *http.Request, total int) {
	query := r.URL.Query()
	number, last := max(1, atoi(query.Get("page"))), total/perPage
	h := w.Header()
	h.Set("X-Page", strconv.Itoa(number))
	h.Set("X-Per-Page", strconv.Itoa(perPage))
	if total <= 10_000 { // above it servers send no totals
		h.Set("X-Total", strconv.Itoa(total))
		h.Set("X-Total-Pages", strconv.Itoa(last))
	}
	if number < last {
		query.Set("page", strconv.Itoa(number+1))
		h.Set("X-Next-Page", strconv.Itoa(number+1))
		h.Set("Link", fmt.Sprintf(`<http://%s/%s?%s>; rel="next"`, r.Host, r.URL.Path[1:], query.Encode()))
	}
	answer(w, s.pages[(number-1)%distinct]())
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
