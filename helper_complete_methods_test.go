package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/contracttest/callresult"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// listMethod is a method of a service that returns a list.
type listMethod struct {
	name    string
	service reflect.Type
	method  reflect.Method
	item    reflect.Type // without the pointer
}

// listMethods returns the methods of all services that return an iterator with an error. Methods
// without a context read data of the caller and are omitted.
func listMethods(t *testing.T) (methods []listMethod) {
	t.Helper()
	for field := range reflect.TypeFor[Client]().Fields() {
		if !field.IsExported() {
			continue
		}
		for method := range field.Type.Methods() {
			out, in := method.Type.Out(0), method.Type.In(1)
			if method.Type.NumOut() != 1 || !out.CanSeq2() || in != reflect.TypeFor[context.Context]() {
				continue
			}
			item := out.In(0).In(0)
			require.Equal(t, reflect.Pointer, item.Kind())
			methods = append(methods, listMethod{field.Name + "." + method.Name, field.Type, method, item.Elem()})
		}
	}
	return methods
}

// list calls the method with arguments of its types.
func (m listMethod) list(ctx context.Context, c *Client, opts ...RequestOption) iter.Seq2[int64, error] {
	in := []reflect.Value{reflect.ValueOf(catalogue.Service(c, m.service)), reflect.ValueOf(ctx)}
	for i := 2; i < m.method.Type.NumIn()-1; i++ {
		in = append(in, madeUpArgument(m.method.Type.In(i)))
	}
	in = append(in, reflect.ValueOf(opts))
	items := m.method.Func.CallSlice(in)[0]
	return func(yield func(int64, error) bool) {
		for item, failure := range items.Seq2() {
			err, _ := failure.Interface().(error)
			n := int64(0)
			switch {
			case (err == nil) == item.IsNil():
				n = -1
			case !item.IsNil():
				n = m.number(item.Elem())
			}
			if !yield(n, err) {
				return
			}
		}
	}
}

// madeUpArgument returns a valid argument of a method.
func madeUpArgument(kind reflect.Type) reflect.Value {
	switch {
	case kind == reflect.TypeFor[Ref]():
		return reflect.ValueOf(Path("group/app"))
	case kind.Kind() == reflect.Int64:
		return reflect.ValueOf(int64(7)).Convert(kind)
	case kind.Kind() == reflect.String:
		return reflect.ValueOf("key").Convert(kind)
	default:
		return reflect.Zero(kind) // nil options
	}
}

// mark returns the field that has the number of an item.
func (m listMethod) mark() (name string, text bool) {
	for _, wanted := range []string{"id", "name", "key"} {
		for field := range m.item.Fields() {
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if tag == wanted && (field.Type.Kind() == reflect.Int64 || field.Type.Kind() == reflect.String) {
				return field.Name, field.Type.Kind() == reflect.String
			}
		}
	}
	panic("no field of " + m.item.Name() + " can hold a number: add one")
}

func (m listMethod) write(n int) string {
	name, text := m.mark()
	field, _ := m.item.FieldByName(name)
	tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	value := strconv.Itoa(n)
	if text {
		value = strconv.Quote("item-" + value)
	}
	if m.bare() {
		return value
	}
	return fmt.Sprintf(`{%q:%s}`, tag, value)
}

func (m listMethod) number(item reflect.Value) int64 {
	name, text := m.mark()
	if !text {
		return item.FieldByName(name).Int()
	}
	n, _ := strconv.ParseInt(strings.TrimPrefix(item.FieldByName(name).String(), "item-"), 10, 64)
	return n
}

// bare reports whether the items are names inside an object, as in the catalogue of a registry.
func (m listMethod) bare() bool { return m.item == reflect.TypeFor[CatalogRepository]() }

// completeMethods tests each method that returns a list, with some interruptions in the middle.
func completeMethods(t *testing.T) {
	noLeaks(t)
	var causes []*listInterruption
	for _, name := range []string{"undisturbed", "context cancelled before the list", "context cancelled before the response", "context cancelled by the caller", "deadline expired",
		"reset inside the body", "body truncated", "502 again and again", "404", "206 without items", "empty page", "next link to itself"} {
		i := slices.IndexFunc(listInterruptions, func(c *listInterruption) bool { return c.name == name })
		causes = append(causes, listInterruptions[i])
	}
	methods := listMethods(t)
	var trials []*trial
	for _, m := range methods {
		if m.item == reflect.TypeFor[PlaceholderReassignment]() { // one file; see completeRows
			continue
		}
		for _, form := range pagingForms {
			if form.name != "x-next-page" && form.name != "opaque links" || m.bare() && form.name == "x-next-page" {
				continue
			}
			for i, cause := range causes {
				for _, ahead := range []int{0, 8} {
					sizes := pageSizes(4, 3)
					if cause.sizes != nil {
						cause.sizes(sizes, 3)
					}
					named := *form
					named.name = m.name + ", " + form.name
					trials = append(trials, &trial{form: &named, list: m.list, pages: numberedPages(m.write, sizes...), cause: cause,
						at: 2 + i%2, ahead: ahead, bare: m.bare()})
				}
			}
		}
	}
	assert.Greater(t, len(methods), 25, "the methods are not found")
	runTrials(t, trials)
}

// registryCatalog puts the items into an object, as registries do.
func registryCatalog(items string) string { return `{"repositories":` + items + `}` }

// completeRows tests the list whose items are the rows of one file. The file is truncated at each
// byte, and interrupted in other ways.
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
			// Without a Content-Length only the content shows whether it is complete.
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
	// A file that was edited may end without a line break, so a truncated last value is not detected,
	// as the documentation of Read states. A download detects it.
	t.Run("file cut at each byte", func(t *testing.T) { completeFile(t, file, rows, last) })
	t.Run("interrupted", func(t *testing.T) {
		for _, cause := range listInterruptions {
			if cause.disturb == nil || slices.Contains([]string{"null", "half a document", "206 with items", "202 without items", "206 without items"}, cause.name) {
				continue // an interruption of JSON
			}
			k := &trial{form: pagingForms[0], cause: cause, at: 1}
			w := newWire(t, func(seen) act {
				return cause.disturb(k, pageResponse{page: 1, status: 200, header: []string{"Content-Type: text/csv"}, body: file})
			})
			client := wireClient(t, w.url)
			ctx := k.context(t)
			var got []*PlaceholderReassignment
			out := callresult.Of(callresult.Patience, func() (err error) {
				got, err = Collect(client.PlaceholderReassignments.List(ctx, ID(1)))
				return err
			})
			k.cancel()
			w.close()
			if assert.Equal(t, callresult.Returned, out.Kind, "%s: it %s", cause.name, out) {
				check(cause.name, got, out.Err)
				assert.True(t, cause.late || cause.name == "body of unknown length truncated" || out.Err != nil && cause.is(out.Err), "%s: %v", cause.name, out.Err)
			}
		}
	})
}

const csvHead = "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n"

// rowsFrom lists rows from a server that handles each request with do.
func rowsFrom(t *testing.T, do act) ([]*PlaceholderReassignment, error) {
	t.Helper()
	w := newWire(t, always(do))
	defer w.close()
	client := wireClient(t, w.url, WithRetry(RetryPolicy{MaxAttempts: 1}))
	defer client.CloseIdleConnections()
	return Collect(client.PlaceholderReassignments.List(t.Context(), ID(1)))
}

// rowValues returns the values of a row, without its unexported state of the file.
func rowValues(row *PlaceholderReassignment) (values []string) {
	for field, value := range reflect.ValueOf(row).Elem().Fields() {
		if field.IsExported() {
			values = append(values, fmt.Sprint(value))
		}
	}
	return values
}

// completeFile reads each beginning of a file. It must be an error, or end at the end of a row and
// contain all rows up to there.
func completeFile(t *testing.T, file string, rows []*PlaceholderReassignment, to int) {
	t.Helper()
	ends := map[int]int{} // number of rows by the offset of their end
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
	return Collect(client.PlaceholderReassignments.ReadCSV(file))
}

var errReader = errors.New("the reader's own error")

// failingReader fails immediately.
type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errReader }
