package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// completeRows is the list whose items are the rows of one file: it is cut at each byte, and broken
// off in other ways.
func completeRows(t *testing.T) {
	noLeaks(t)
	file := string(readFixture(t, "placeholder_reassignments/reassignments.csv"))
	rows, err := readRows(t, strings.NewReader(file))
	require.NoError(t, err)
	require.Len(t, rows, 3)
	check := func(what string, got []*PlaceholderReassignment, err error) {
		for i, row := range got {
			if !assert.Less(t, i, len(rows), what) || !assert.Equal(t, rowValues(rows[i]), rowValues(row), "%s: row %d", what, i+1) {
				return
			}
		}
		if err == nil {
			assert.Len(t, got, len(rows), "%s: rows are missing, and there is no error", what)
		}
	}
	t.Run("transfer cut at each byte", func(t *testing.T) {
		for cut := range len(file) {
			what := fmt.Sprintf("cut at byte %d", cut)
			got, err := rowsFrom(t, closing(csvHead+fmt.Sprintf("Content-Length: %d\r\n\r\n", len(file))+file[:cut]))
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF, what)
			check(what, got, err)
			got, err = rowsFrom(t, closing(csvHead+"Transfer-Encoding: chunked\r\n\r\n"+fmt.Sprintf("%x\r\n%s\r\n", max(cut, 1), file[:max(cut, 1)])))
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF, what+" (chunked)")
			check(what, got, err)
			// Without a length only the file itself can tell.
			got, err = rowsFrom(t, closing(csvHead+"Connection: close\r\n\r\n"+file[:cut]))
			assert.True(t, err != nil || strings.HasSuffix(file[:cut], "\n"), "%s (of unknown length): %d rows and no error", what, len(got))
			for i := range got {
				assert.Equal(t, rowValues(rows[i]), rowValues(got[i]), "%s: row %d", what, i+1)
			}
		}
	})
	t.Run("reader that fails at each byte", func(t *testing.T) {
		for cut := range len(file) {
			reader := io.MultiReader(strings.NewReader(file[:cut]), failingReader{})
			got, err := readRows(t, reader)
			assert.ErrorIs(t, err, errReader, "cut at byte %d", cut)
			check(fmt.Sprintf("cut at byte %d", cut), got, err)
		}
	})
	last := strings.LastIndex(file, ",") + 1
	// A file that was edited may end without a line break, so its last value may be a part: Read's
	// documentation says so, and a download finds it.
	t.Run("file cut at each byte", func(t *testing.T) { completeFile(t, file, rows, last) })
	t.Run("interrupted", func(t *testing.T) {
		for _, cause := range listInterruptions {
			if cause.disturb == nil || slices.Contains([]string{"null", "half a document", "206 with items", "202 without items", "206 without items"}, cause.name) {
				continue // of JSON
			}
			k := &trial{form: pagingForms[0], cause: cause, at: 1}
			w := newWire(t, func(seen) act {
				return cause.disturb(k, pageResponse{page: 1, status: 200, header: []string{"Content-Type: text/csv"}, body: file})
			})
			client := wireClient(t, w.url)
			ctx, cancel := context.WithCancel(t.Context())
			if cause.deadline > 0 {
				ctx, cancel = context.WithTimeout(t.Context(), cause.deadline)
			}
			k.cancel = cancel
			var got []*PlaceholderReassignment
			out := observeCall(childPatience, func() (err error) {
				got, err = Collect(client.PlaceholderReassignments.List(ctx, ID(1)))
				return err
			})
			cancel()
			w.close()
			if assert.Equal(t, hasReturned, out.kind, "%s: it %s", cause.name, out) {
				check(cause.name, got, out.err)
				assert.True(t, cause.late || cause.name == "body of unknown length truncated" || out.err != nil && cause.is(out.err), "%s: %v", cause.name, out.err)
			}
		}
	})
}

const csvHead = "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n"

// rowsFrom lists rows from a server that does one thing.
func rowsFrom(t *testing.T, do act) ([]*PlaceholderReassignment, error) {
	t.Helper()
	w := newWire(t, always(do))
	defer w.close()
	client := wireClient(t, w.url, WithRetry(RetryPolicy{MaxAttempts: 1}))
	defer client.CloseIdleConnections()
	return Collect(client.PlaceholderReassignments.List(t.Context(), ID(1)))
}

// rowValues are the values of a row, without what it remembers of its file.
func rowValues(row *PlaceholderReassignment) (values []string) {
	for field, value := range reflect.ValueOf(row).Elem().Fields() {
		if field.IsExported() {
			values = append(values, fmt.Sprint(value))
		}
	}
	return values
}

// completeFile reads beginnings of a file: each is an error, or it ends where a row ends, and the
// rows are there.
func completeFile(t *testing.T, file string, rows []*PlaceholderReassignment, to int) {
	t.Helper()
	ends := map[int]int{} // rows by the bytes behind them
	at := strings.Index(file, "\n") + 1
	ends[at] = 0
	for i := range rows {
		next := strings.Index(file[at:], "\ngithub.example.com")
		if next < 0 {
			next = len(file) - at - 1
		}
		at += next + 1
		ends[at], ends[at-1] = i+1, i+1
	}
	ends[strings.Index(file, "\n")] = 0
	for cut := range to {
		got, err := readRows(t, strings.NewReader(file[:cut]))
		n, whole := ends[cut]
		switch {
		case err == nil && !whole:
			assert.Fail(t, "rows are missing, and there is no error", "cut at byte %d, inside a row; the last row is %q", cut, rowValues(got[len(got)-1]))
			continue
		case err == nil:
			assert.Len(t, got, n, "cut at byte %d", cut)
		}
		for i := range got {
			assert.Equal(t, rowValues(rows[i]), rowValues(got[i]), "cut at byte %d: row %d", cut, i+1)
		}
	}
}

func readRows(t *testing.T, file io.Reader) ([]*PlaceholderReassignment, error) {
	t.Helper()
	client, err := NewClient("https://forge.example")
	require.NoError(t, err)
	return Collect(client.PlaceholderReassignments.Read(file))
}

var errReader = errors.New("the reader's own error")

// failingReader fails at once.
type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errReader }
