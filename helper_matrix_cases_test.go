package forge

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
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
	// Vocabulary has the words in which Arguments and Body are written.
	Vocabulary Vocabulary
}

// MatrixCases returns the methods of all endpoints.
var MatrixCases func(t *testing.T) []MatrixCase

// matrixFigures has the totals of the cells.
type matrixFigures struct {
	mu      sync.Mutex
	methods int
	lines   [9]matrixLine // by class and number of faults
}

var retryClasses = []RetryClass{ClassSafe, ClassIdempotent, ClassNonIdempotent}

// matrixLine is a line of the table, and counts that must be zero.
type matrixLine struct {
	cells, requests             int
	well, settled, torn         int
	maybe, untouched            int // failures: with MaybeApplied, and without
	double, silent, off, unsaid int
}

func (f *matrixFigures) count(r *matrixRow, c matrixCell, got matrixResult, end ending, e *Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	line := &f.lines[3*slices.Index(retryClasses, r.route.Class)+min(c.times, 3)-1]
	one := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	line.requests += got.arrivals
	one(&line.cells, true)
	one(&line.well, end == well)
	one(&line.settled, end == settled)
	one(&line.torn, end == torn)
	one(&line.maybe, end == failed && e.MaybeApplied)
	one(&line.untouched, end == failed && !e.MaybeApplied)
	one(&line.double, r.route.Class == ClassNonIdempotent && got.effects > 1)
	one(&line.silent, e == nil && (got.answers == 0 || r.writes() && got.effects == 0 || got.items != r.items))
	one(&line.off, got.effects > 0 && got.state != r.state)
	one(&line.unsaid, e != nil && r.writes() && got.effects > 0 && !e.MaybeApplied)
}

// String returns the table.
func (f *matrixFigures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s %-6s %6s %6s %8s %5s %13s %10s %10s %7s %9s %7s %9s\n", "class", "fault", "calls", "well", "settled", "torn",
		"MaybeApplied", "untouched", "duplicate", "silent", "off state", "unsaid", "requests")
	for i, l := range f.lines {
		fmt.Fprintf(&b, "%-10s %-6s %6d %6d %8d %5d %13d %10d %10d %7d %9d %7d %9.2f\n", retryClasses[i/3], []string{"once", "twice", "always"}[i%3],
			l.cells, l.well, l.settled, l.torn, l.maybe, l.untouched, l.double, l.silent, l.off, l.unsaid, float64(l.requests)/float64(l.cells))
	}
	return b.String()
}

func (f *matrixFigures) method() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.methods++
}
