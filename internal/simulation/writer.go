package simulation

import (
	"io"
	"net/http"
	"strconv"
)

// writer sends a response, counts its bytes, and applies the faults at bytes of its body.
type writer struct {
	http.ResponseWriter
	p      *passage
	faults []Fault
	began  bool
	sent   int // bytes that the handler has written
	out    int // bytes that were sent
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends the header.
func (w *writer) WriteHeader(status int) {
	if status >= 200 {
		w.note(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// note records the status of the response.
func (w *writer) note(status int) {
	w.began = true
	if w.p.e.Handled && w.p.e.Answer == 0 {
		w.p.answered(status)
	}
	w.p.world.change(func() { w.p.e.Status = status })
}

// Write sends bytes of the body up to the next fault, then applies the fault.
func (w *writer) Write(data []byte) (int, error) {
	if !w.began {
		w.WriteHeader(http.StatusOK)
	}
	total := len(data)
	for _, f := range w.faults {
		if f.Byte < w.sent || f.Byte > w.sent+len(data) || f.Byte == w.sent+len(data) && f.Kind != Cut && f.Kind != Reset {
			continue
		}
		before := data[:f.Byte-w.sent]
		if err := w.pass(before); err != nil {
			return 0, err
		}
		data = w.act(f, data[len(before):])
	}
	if err := w.pass(data); err != nil {
		return 0, err
	}
	return total, nil
}

// pass sends unchanged bytes.
func (w *writer) pass(data []byte) error {
	w.sent += len(data)
	return w.write(data)
}

// write sends bytes. If some were sent twice, it drops the bytes beyond the announced length.
func (w *writer) write(data []byte) error {
	if length, err := strconv.Atoi(w.Header().Get("Content-Length")); err == nil && w.out+len(data) > length {
		data = data[:max(0, length-w.out)]
	}
	n, err := w.ResponseWriter.Write(data)
	w.out += n
	w.p.world.change(func() { w.p.e.Sent += int64(n) })
	return err
}

// act applies a fault at its byte of the body, and returns the rest to send.
func (w *writer) act(f Fault, rest []byte) []byte {
	switch f.Kind {
	case Reset, Cut, Stall, Slow, Abort, Garble, Repeat:
		w.p.hit(f)
	default:
		return rest
	}
	length := min(max(1, f.Length), len(rest))
	switch f.Kind {
	case Garble:
		rest = append([]byte(nil), rest...)
		for i := range length {
			rest[i] ^= 0x55
		}
	case Repeat:
		_ = w.write(rest[:length])
	default:
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		if f.Kind == Abort || w.p.conn == nil {
			panic(http.ErrAbortHandler)
		}
		w.p.world.strike(w.p.conn)
		w.p.conn.strike(mark{kind: f.Kind, wait: f.Wait, length: f.Length})
	}
	return rest
}

// counted counts the bytes that a handler reads of a request's body.
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
