package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
)

// page shows what progress.json has, and requests it every second.
//
//go:embed page.html
var page []byte

// serve serves the page, if -listen is set. It shows names of projects, and no credential.
func (p *progress) serve(ctx context.Context) (closePage func(), err error) {
	if p.listen == "" {
		return func() {}, nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", p.listen)
	if err != nil {
		return nil, fmt.Errorf("-listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	})
	mux.HandleFunc("GET /progress.json", func(w http.ResponseWriter, r *http.Request) {
		s, err := p.look(r.Context())
		if err != nil {
			http.Error(w, "the database does not respond", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	fmt.Fprintf(p.out, "Page    http://%s\n", listener.Addr())
	return func() { _ = server.Close() }, nil
}
