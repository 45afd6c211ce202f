package forge

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// MatrixCase is a method that the fault matrix calls. The methods are in a package that imports
// this one, so the external tests set MatrixCases.
type MatrixCase struct {
	Endpoint catalogue.Endpoint
	Method   reflect.Value
	// Arguments returns the arguments of the method, and the path of its request.
	Arguments func(t *testing.T, client *Client) (in []reflect.Value, path string)
	// Status and Body are a response without a fault.
	Status int
	Body   string
}

// MatrixCases returns the methods of all endpoints.
var MatrixCases func(t *testing.T) []MatrixCase

// The fault matrix calls every documented endpoint through its typed method, with every fault:
// before and after the call takes effect, on a new and on a reused connection, once, twice and
// always. The server counts the requests and their effects.

// matrixRow is a method, and its result without a fault.
type matrixRow struct {
	MatrixCase
	name     string
	route    *route
	executor callKind
	answer   matrixAnswer
	encoding string // encoding of the body
	items    int    // number of items that the method returns
	state    string // state of the server after the call
}

// matrixRows returns all methods; of methods that differ only in their options, only the first.
func matrixRows(t *testing.T) []*matrixRow {
	t.Helper()
	var rows []*matrixRow
	seen := map[string]bool{}
	for _, c := range MatrixCases(t) {
		name := fmt.Sprint(c.Endpoint.ID, " ", c.Method.Type())
		if seen[name] {
			continue
		}
		seen[name] = true
		route, known := findRoute(c.Endpoint.Method, c.Endpoint.Path)
		require.True(t, known)
		row := &matrixRow{MatrixCase: c, route: route, executor: executorOf(c), answer: answerOf(c)}
		row.name = c.Endpoint.ID + " " + executorName(row.executor)
		row.control(t)
		rows = append(rows, row)
	}
	return rows
}

func executorName(e callKind) string {
	return map[callKind]string{kindJSON: "do", kindNoResult: "exec", kindStream: "open", kindList: "list"}[e]
}

func executorOf(c MatrixCase) callKind {
	switch first := c.Method.Type().Out(0); {
	case first == reflect.TypeFor[*Download](), c.Endpoint.Response.Kind == "csv":
		return kindStream
	case first.Kind() == reflect.Func:
		return kindList
	case c.Method.Type().NumOut() == 1:
		return kindNoResult
	}
	return kindJSON
}

func answerOf(c MatrixCase) matrixAnswer {
	switch c.Endpoint.Response.Kind {
	case "csv":
		return matrixAnswer{c.Status, c.Body + strings.Repeat("x,", len(reassignmentColumns())-1) + "x\n", "text/csv"}
	case "raw":
		return matrixAnswer{c.Status, c.Body, "application/octet-stream"}
	}
	return matrixAnswer{c.Status, c.Body, "application/json"}
}

// control makes the call without a fault.
func (r *matrixRow) control(t *testing.T) {
	t.Helper()
	got := r.meet(t, matrixCell{})
	require.NoError(t, got.err, r.name)
	require.Positive(t, got.items, r.name)
	media, _, _ := mime.ParseMediaType(got.requests[0].header.Get("Content-Type"))
	r.encoding, r.items, r.state = media, got.items, got.state
	assert.Equal(t, r.writes(), got.effects == 1, r.name)
}

// group returns the combination for which one row is run by default.
func (r *matrixRow) group() string {
	return fmt.Sprint(r.route.Class, executorName(r.executor), r.encoding, r.route.base)
}

func (r *matrixRow) writes() bool { return r.route.Class != RetryClassSafe }

// settles reports whether the server reports a call that changes nothing.
func (r *matrixRow) settles() bool {
	last := r.route.Template[strings.LastIndex(r.route.Template, "/")+1:]
	return last == "subscribe" || last == "unsubscribe" || last == "todo"
}

// forever is larger than any number of attempts.
const forever = 1000

// matrixCell is the fault of a call and its conditions.
type matrixCell struct {
	fault  matrixFault
	after  bool // the call has taken effect when the fault happens
	reused bool
	times  int
}

func (c matrixCell) String() string {
	return fmt.Sprintf("%s, after=%t, reused=%t, times=%d", c.fault.name, c.after, c.reused, c.times)
}

func (r *matrixRow) cells() []matrixCell {
	var cells []matrixCell
	for _, fault := range matrixFaults() {
		for _, after := range []bool{false, true} {
			if after && (!r.writes() || fault.dial != nil || fault.untaken || fault.interim) {
				continue // there is no effect
			}
			if !after && r.executor == kindNoResult && fault.head {
				continue // exec needs only a header, and that of a 2xx response shows that the call has taken effect
			}
			for _, reused := range []bool{false, true} {
				for _, times := range []int{1, 2, forever} {
					cells = append(cells, matrixCell{fault, after, reused, times})
				}
			}
		}
	}
	return cells
}

// ending is how a call ends.
type ending string

const (
	well    ending = "well"
	settled ending = "settled" // 404 or 304: a failed attempt has taken effect
	torn    ending = "torn"    // a stream that is truncated
	failed  ending = "failed"
)

// expect returns how the call must end, and after how many attempts. Each attempt arrives once,
// since net/http sends no request again by itself.
func (r *matrixRow) expect(c matrixCell) (end ending, attempts int) {
	unsent := c.reused && c.fault.stale // nothing was written on the reused connection
	switch {
	case c.fault.interim, c.fault.head && r.executor == kindNoResult:
		return well, 1
	case c.fault.head && r.executor == kindStream:
		return torn, 1
	case c.times == 0:
		return well, 1
	case c.fault.final:
		return failed, 1
	case r.route.Class == RetryClassNonIdempotent && unsent && c.times > 1:
		return failed, 2
	case r.route.Class == RetryClassNonIdempotent && !unsent && !c.fault.untaken:
		return failed, 1
	case c.times >= 4:
		return failed, 4
	case c.after && (r.route.Method == http.MethodDelete || r.settles()):
		return settled, c.times + 1
	}
	return well, c.times + 1
}

// matrixResult is the result of a call, and the counts of the server.
type matrixResult struct {
	items    int
	err      error
	arrivals int
	answers  int
	effects  int
	state    string
	requests []seen
	conn     int   // the connection that the first attempt should use
	again    error // of the same call, made again after a stream was truncated
}

// meet makes the call in the cell.
func (r *matrixRow) meet(t *testing.T, c matrixCell) (got matrixResult) {
	t.Helper()
	s := newMatrixServer(t, r, c)
	client := s.client(t)
	defer s.wire.close()
	defer client.CloseIdleConnections()
	s.arm(t, client)
	in, path := r.Arguments(t, client)
	in = append(in, reflect.ValueOf(SkipValidation()))
	got.items, got.err = taste(r.Method.Call(in))
	s.mu.Lock()
	got.arrivals, got.answers, got.effects, got.state = s.arrivals, s.answers, s.effects, s.state
	s.mu.Unlock()
	got.requests, got.conn = s.wire.seen()[s.before:], max(s.conn, 1)
	for _, request := range got.requests {
		address, _, _ := strings.Cut(request.uri, "?")
		assert.Equal(t, r.route.Method+" "+[]string{"/api/v4", "/registry", "/auth"}[r.route.base]+path, request.method+" "+address)
	}
	if got.err != nil && r.executor == kindStream && c.times == 1 {
		_, got.again = taste(r.Method.Call(in))
	}
	return got
}

// taste reads the results of a method to the end, and counts items or bytes.
func taste(results []reflect.Value) (n int, err error) {
	err, _ = results[len(results)-1].Interface().(error)
	download, stream := results[0].Interface().(*Download)
	switch {
	case results[0].Kind() == reflect.Func:
		for _, e := range results[0].Seq2() {
			if err, _ = e.Interface().(error); err == nil {
				n++
			}
		}
		return n, err
	case err != nil:
		return 0, err
	case stream:
		defer download.Close()
		read, err := io.Copy(io.Discard, download)
		return int(read), err
	}
	return 1, nil
}

// check checks the result of a cell.
func (r *matrixRow) check(t *testing.T, c matrixCell) {
	t.Helper()
	got := r.meet(t, c)
	want, attempts := r.expect(c)
	var e *Error
	end := well
	switch {
	case got.err == nil:
	case !errors.As(got.err, &e):
		assert.Fail(t, "no *Error", "%s: %v", c, got.err)
		return
	case e.MaybeApplied && (e.Status == http.StatusNotFound || errors.Is(got.err, ErrNotModified)):
		end = settled
	case got.answers == 0 && r.executor == kindStream && c.fault.head:
		end = torn
		assert.NoError(t, got.again, "%s: asked again", c)
	default:
		end = failed
	}
	assert.Equal(t, want, end, "%s: %v", c, got.err)
	arrivals := attempts
	if want == well && r.executor == kindList {
		arrivals++ // the second page
	}
	assert.Equal(t, arrivals, got.arrivals, "%s: requests", c)
	r.checkEffects(t, c, got, e)
	r.checkRequests(t, c, got)
	if e != nil {
		assert.Equal(t, attempts, e.Attempts, "%s: attempts", c)
		r.checkError(t, c, got.err, e, end)
	}
}

// checkEffects compares the effects that the client reports with those on the server.
func (r *matrixRow) checkEffects(t *testing.T, c matrixCell, got matrixResult, e *Error) {
	t.Helper()
	if r.route.Class == RetryClassNonIdempotent {
		assert.LessOrEqual(t, got.effects, 1, "%s: effects", c)
	}
	if got.effects > 0 {
		assert.Equal(t, r.state, got.state, "%s: the state is another than after one call", c)
	}
	if e != nil {
		assert.Equal(t, r.writes() && !c.fault.untaken, e.MaybeApplied, "%s: MaybeApplied", c)
		return
	}
	assert.Positive(t, got.answers, "%s: success without a whole answer", c)
	assert.Equal(t, r.writes(), got.effects > 0, "%s: success without an effect", c)
	assert.Equal(t, r.items, got.items, "%s: items", c)
}

// checkRequests checks that all attempts sent the same request, credential included, and that the
// first one used the expected connection.
func (r *matrixRow) checkRequests(t *testing.T, c matrixCell, got matrixResult) {
	t.Helper()
	for i, request := range got.requests {
		assert.Equal(t, got.requests[0].header, request.header, "%s: header of request %d", c, i+1)
		assert.Equal(t, got.requests[0].body, request.body, "%s: body of request %d", c, i+1)
	}
	if c.fault.act == nil {
		return
	}
	first := got.requests[0]
	assert.Equal(t, got.conn, first.conn, "%s: connection", c)
	assert.Equal(t, c.reused, first.nth > 1, "%s: reuse", c)
}

// checkError checks that an error names the call, its last response and its cause.
func (r *matrixRow) checkError(t *testing.T, c matrixCell, err error, e *Error, end ending) {
	t.Helper()
	assert.Equal(t, r.route.Method+" "+r.route.Template, e.Method+" "+e.Route, c)
	assert.Contains(t, err.Error(), r.route.Method+" "+r.route.Template, c)
	assert.NotErrorIs(t, err, io.EOF, c)
	if end == settled {
		assert.Greater(t, e.Attempts, 1, c)
		return
	}
	status := c.fault.status
	if c.fault.head {
		status = r.answer.status
	}
	assert.Equal(t, status, e.Status, "%s: status", c)
	assert.Contains(t, err.Error(), c.fault.text, c)
	is := func(cause error) bool { return errors.Is(err, cause) }
	assert.True(t, c.fault.is == nil || slices.ContainsFunc(c.fault.is, is), "%s: %v", c, err)
	var limited *RateLimitError
	assert.Equal(t, c.fault.name == "429", errors.As(err, &limited), c)
}

// TestFaultMatrix runs one endpoint for each combination of class, executor, encoding of the body
// and address; with FORGE_MATRIX=all it runs all 94, with every status.
func TestFaultMatrix(t *testing.T) {
	rows, groups := matrixRows(t), map[string]bool{}
	var calls atomic.Int64
	whole := matrixWhole()
	t.Run("endpoints", func(t *testing.T) {
		for _, row := range rows {
			if groups[row.group()] && !whole {
				continue
			}
			groups[row.group()] = true
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				for _, cell := range row.cells() {
					calls.Add(1)
					if row.check(t, cell); t.Failed() {
						return
					}
				}
			})
		}
	})
	t.Logf("%d calls of %d methods; there are %d methods", calls.Load(), len(groups), len(rows))
}
