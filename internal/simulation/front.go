package simulation

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
)

// front is a handler before the server's own. It applies the faults.
type front struct {
	world  *World
	origin string
	next   http.Handler
}

// passage is the handling of one request in the front.
type passage struct {
	*front
	e      *Exchange
	r      *http.Request
	w      http.ResponseWriter
	conn   *conn
	faults []Fault
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := &passage{front: f, e: f.world.begin(r, f.origin), r: r, w: w}
	p.conn, _ = r.Context().Value(connKey{}).(*conn)
	p.faults = f.world.hitting(p.e)
	if p.conn != nil && r.ProtoMajor == 1 {
		p.conn.out.disarm() // marks that the previous response did not reach
	}
	r.Body = &counted{ReadCloser: r.Body, world: f.world, exchange: p.e}
	defer f.world.change(func() { p.e.Ended = f.world.Now() })
	p.pass()
	if r.ProtoMajor == 2 && len(p.at(AtHeader)) > 0 && p.conn != nil {
		_ = http.NewResponseController(w).Flush()
		p.conn.out.disarm()
	}
}

// pass applies the faults at each point, in order, and calls the server.
func (p *passage) pass() {
	if path, moved := strings.CutPrefix(p.r.URL.Path, movedPrefix); moved {
		p.r.URL.Path, p.r.URL.RawPath = path, strings.TrimPrefix(p.r.URL.RawPath, movedPrefix)
	}
	for _, f := range p.at(AtBody) {
		if !p.readTo(f.Byte) {
			continue
		}
		if p.hit(f); p.actBefore(f) {
			return
		}
	}
	if len(p.at(AtBefore, AtHeader)) > 0 {
		p.readTo(-1)
	}
	for _, f := range p.at(AtBefore) {
		if p.hit(f); p.actBefore(f) {
			return
		}
	}
	if len(p.at(AtAfter)) == 0 {
		p.armHeader()
		p.handle(p.direct())
		return
	}
	p.replay()
}

// at returns the faults at the points, in the order of the plan.
func (p *passage) at(points ...Point) (list []Fault) {
	for _, f := range p.faults {
		if slices.Contains(points, f.At) {
			list = append(list, f)
		}
	}
	return list
}

func (p *passage) hit(f Fault) { p.world.hit(p.e, f) }

// readTo reads the request's body up to a byte, or all of it for -1. It reports whether the body is
// that long. The handler still reads it from the start.
func (p *passage) readTo(at int) bool {
	var read bytes.Buffer
	source := p.r.Body
	var n int64
	var err error
	if at < 0 {
		n, err = read.ReadFrom(source)
	} else {
		n, err = io.CopyN(&read, source, int64(at))
	}
	var rest io.Reader = source
	if err != nil && !errors.Is(err, io.EOF) {
		rest = broken{err}
	}
	p.r.Body = &rejoined{io.MultiReader(&read, rest), source}
	return at < 0 && err == nil || n == int64(at)
}

// rejoined is a body whose start was read already.
type rejoined struct {
	io.Reader
	io.Closer
}

// broken is the rest of a body that cannot be read.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// handle lets the server process the request.
func (p *passage) handle(w http.ResponseWriter) {
	p.world.change(func() { p.e.Handled = true })
	p.next.ServeHTTP(w, p.r)
}

// answered records the status that the server's handler returned.
func (p *passage) answered(status int) {
	if status < 200 {
		return
	}
	p.world.change(func() {
		p.e.Answer = status
		p.e.Effect = p.e.Method != http.MethodGet && p.e.Method != http.MethodHead && status < 300
	})
}

// direct returns the writer of a response that is sent while the handler runs.
func (p *passage) direct() *writer {
	return &writer{ResponseWriter: p.w, p: p, faults: p.at(AtData)}
}

// armHeader adds the marks of the faults AtHeader, where the response will begin.
func (p *passage) armHeader() {
	for _, f := range p.at(AtHeader) {
		if p.conn != nil {
			p.conn.out.arm(int64(f.Byte), p.mark(f))
		}
	}
}

func (p *passage) mark(f Fault) mark {
	return mark{kind: f.Kind, wait: f.Wait, length: f.Length, hit: func() {
		p.hit(f)
		p.world.strike(p.conn)
		if f.Kind == Reset {
			p.conn.broken()
		}
	}}
}
