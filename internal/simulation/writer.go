package simulation

import (
	"io"
	"net/http"
)

// writer counts what a handler sends.
type writer struct {
	http.ResponseWriter
	world    *World
	exchange *Exchange
}

func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) WriteHeader(status int) {
	if status >= 200 {
		w.world.change(func() { w.exchange.Status = status })
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.world.change(func() {
		if w.exchange.Status == 0 {
			w.exchange.Status = http.StatusOK
		}
		w.exchange.Sent += int64(n)
	})
	return n, err
}

// counted counts what a handler reads.
type counted struct {
	io.ReadCloser
	world    *World
	exchange *Exchange
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if n > 0 {
		c.world.change(func() { c.exchange.Read += int64(n) })
	}
	return n, err
}
