package contracttest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

// TestNothingSentIsLost checks that no value is lost if a server sends another value instead of a
// documented one. The value is in the field, or it is unparsed in Extra of the nearest object,
// under its key, and Response.Mismatches names it. All other values are unchanged, and the call
// succeeds.
func TestNothingSentIsLost(t *testing.T) {
	racetest.SkipSequential(t)
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	reports := &lossReports{t: t, count: map[string]int{}}
	documents := fullDocuments(t)
	t.Run("types", func(t *testing.T) {
		for _, kind := range responseTypes() {
			assertExtra(t, kind, nil)
		}
	})
	for _, test := range []struct {
		name string
		at   func(*decoding, *fullDocument, *documentPlace)
	}{{"other-types", (*decoding).otherTypes}, {"times", (*decoding).times}, {"duplicates", (*decoding).duplicates}} {
		t.Run(test.name, func(t *testing.T) {
			reports.t = t
			eachPlace(t, documents, reports, test.at)
		})
	}
	t.Run("lists", listLosses)
}

// long reports whether cross products are tested with all combinations, as in .ci/nightly.
var long = os.Getenv("FORGE_LONG") != ""

// oddValues has a value of each JSON type, and numbers that do not fit every number type.
var oddValues = []string{`{"odd":{"k":[1,"two"]}}`, `["odd",{"k":1},7]`, `[]`, `{}`, `"odd text"`, `4711`, `4711.25`, `9223372036854775808`, `-1e999`, `true`, `null`}

// oddTimes are times in other forms, sent instead of a timestamp or a date.
var oddTimes = []string{"2026-01-02T03:04:05+0200", "2026-01-02T03:04:05+02", "2026-01-02 03:04:05 UTC", "2026-01-02 03:04:05 +0200", "2026-01-02T03:04:05",
	"2026-01-02", "2026-01-02T23:04:05.678-05:00", "2026-01-02T03:04:05Z", "Fri, 02 Jan 2026 03:04:05 GMT", "2026/01/02", "1767323045", "02.01.2026", "tomorrow"}

// otherTypes puts odd values into the place: each value if it is the first place of its Go type,
// every third and null if it is the first of its field, and fewer if it is a later place. With
// FORGE_LONG=1 each first place of a field gets all of them.
func (d *decoding) otherTypes(document *fullDocument, p *documentPlace) {
	every := 11 // of the values
	switch {
	case p.firstKind, p.first && long:
		every = 1
	case p.first, long:
		every = 3
	}
	for i, odd := range oddValues {
		if i%every == p.turn%every || p.first && odd == "null" {
			d.disturb(document, p, odd)
		}
	}
}

// times puts times in other forms into the places of times.
func (d *decoding) times(document *fullDocument, p *documentPlace) {
	if p.first && (p.kind == timeType || p.kind == dateType) {
		for _, odd := range oddTimes {
			d.disturb(document, p, `"`+odd+`"`)
		}
	}
}

// duplicates sends the key of a place twice: the last value is used, and no part of the first value
// is mixed into it.
func (d *decoding) duplicates(document *fullDocument, p *documentPlace) {
	if p.element || !p.first {
		return
	}
	for i, odd := range []string{`{"odd":1,"id":4711,"name":"odd"}`, `"odd text"`, `4711`, `[1]`} {
		if i%2 != p.turn%2 && !long {
			continue
		}
		what := fmt.Sprintf("%s%s twice, first %s", document.name, p.pointer, odd)
		value, _, err := d.decode(document.kind, document.textTwice(p, odd))
		if d.report(what, "the call fails", err == nil, err) {
			d.same(what, d.undisturbed(document), value, "")
		}
	}
}

// disturb decodes the document with an odd value in the place, and checks the property.
func (d *decoding) disturb(document *fullDocument, p *documentPlace, odd string) {
	what := fmt.Sprintf("%s%s (%s) = %s", document.name, p.pointer, p.kind, odd)
	text := document.text(p, odd)
	value, mismatches, err := d.decode(document.kind, text)
	if !d.report(what, "the call fails", err == nil, err) {
		return
	}
	holder, found := valueAt(value, p.holder)
	if !d.report(what, "the object around it is lost", found, nil) {
		return
	}
	tree := parsedJSON([]byte(text))
	under := p.holder + "/" + pointerToken(p.key)
	sent := treeAt(tree, under)
	field, _ := fieldOfKey(holder, p.key)
	raw, kept := extraOf(holder)[p.key]
	inField := holds(field, sent)
	switch {
	case kept:
		d.report(what, "Extra has another value", sameJSON(raw, sent), string(raw))
		if p.kind != dateType || inField == lost { // the day of a timestamp may be in its field, and the rest in Extra
			d.report(what, "the complete value is in the field and in Extra", inField != whole, field)
			d.report(what, "the field has a value that was not sent", partOf(field, sent), field)
		}
		if items, is := sent.([]any); is && p.element && strings.Count(p.pointer, "/") == strings.Count(under, "/")+1 && field.Kind() == reflect.Slice {
			d.report(what, "valid elements are not in the field", field.Len() == len(items)-1, field)
		}
		named := slices.ContainsFunc(mismatches, func(m forge.Mismatch) bool { return below(m.Pointer, p.pointer) && m.Want != "" && m.Got != "" })
		d.report(what, "Mismatches does not name it", named, mismatches)
	default:
		d.report(what, "it is lost", inField != lost, field)
		if inField == whole {
			d.report(what, "Mismatches names it, although it is in its field", len(mismatches) == 0, mismatches)
		}
	}
	for _, m := range mismatches {
		d.report(what, "Mismatches names another place", below(m.Pointer, p.pointer), m)
	}
	d.same(what, d.undisturbed(document), value, under)
}

// below reports whether a pointer equals another one or is below it.
func below(pointer, to string) bool { return pointer == to || strings.HasPrefix(pointer, to+"/") }

// treeAt returns the part of a parsed document at a pointer to a field.
func treeAt(tree any, pointer string) any {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch node := tree.(type) {
		case map[string]any:
			tree = node[token]
		case []any:
			var i int
			_, _ = fmt.Sscan(token, &i)
			tree = node[i]
		}
	}
	return tree
}

// decoding decodes documents as responses of a server.
type decoding struct {
	*lossReports
	client *forge.Client
	body   atomic.Pointer[string]
	plain  map[*fullDocument]reflect.Value
}

func (d *decoding) decode(kind reflect.Type, text string) (value reflect.Value, mismatches []forge.Mismatch, err error) {
	d.body.Store(&text)
	var response forge.Response
	out := reflect.New(kind)
	err = d.client.Do(d.t.Context(), forge.Call{Method: http.MethodGet, Route: "/document"}, out.Interface(), forge.Into(&response))
	return out.Elem(), response.Mismatches, err
}

// undisturbed returns the unchanged document as it is decoded.
func (d *decoding) undisturbed(document *fullDocument) reflect.Value {
	value, known := d.plain[document]
	if !known {
		var mismatches []forge.Mismatch
		var err error
		text := treeText(document.tree)
		value, mismatches, err = d.decode(document.kind, text)
		d.plain[document] = value
		d.report(document.name, "the undisturbed call fails", err == nil, err)
		d.report(document.name, "the undisturbed document has mismatches", len(mismatches) == 0, mismatches)
		d.report(document.name, "something of the undisturbed document is lost", holds(value, parsedJSON([]byte(text))) == whole, text)
	}
	return value
}

func (d *decoding) same(what string, before, after reflect.Value, but string) {
	found := differences(before, after, "", but)
	d.report(what, "something else has changed", len(found) == 0, found)
}

// eachPlace runs a test at each place of each document, several documents at a time.
func eachPlace(t *testing.T, documents []*fullDocument, reports *lossReports, test func(*decoding, *fullDocument, *documentPlace)) {
	t.Helper()
	var running sync.WaitGroup
	queue := make(chan *fullDocument)
	var count atomic.Int64
	for range 2 * runtime.GOMAXPROCS(0) {
		d := &decoding{lossReports: reports, plain: map[*fullDocument]reflect.Value{}}
		d.client = memoryClient(t, func(*http.Request) (*http.Response, error) {
			return jsonResponse(http.StatusOK, *d.body.Load()), nil
		})
		running.Go(func() {
			for document := range queue {
				d.undisturbed(document)
				for _, p := range document.places {
					count.Add(1)
					test(d, document, p)
				}
			}
		})
	}
	for _, document := range documents {
		queue <- document
	}
	close(queue)
	running.Wait()
	assert.Greater(t, count.Load(), int64(1500), "the places are not found")
}

// lossReports counts the failures, and reports some of them.
type lossReports struct {
	t     *testing.T
	mu    sync.Mutex
	count map[string]int
}

func (r *lossReports) report(what, problem string, good bool, detail any) bool {
	if !good {
		r.mu.Lock()
		defer r.mu.Unlock()
		problem = r.t.Name() + ": " + problem
		if r.count[problem]++; r.count[problem] <= 6 {
			r.t.Errorf("%s: %s: %.300v", what, problem, detail)
		}
	}
	return good
}

// assertExtra checks that each object of a response has an Extra.
func assertExtra(t *testing.T, kind reflect.Type, above []reflect.Type) {
	t.Helper()
	switch {
	case slices.Contains(above, kind), kind == timeType, kind == dateType, isNullable(kind):
	case kind.Kind() == reflect.Pointer, kind.Kind() == reflect.Slice, kind.Kind() == reflect.Map:
		assertExtra(t, kind.Elem(), above)
	case kind.Kind() == reflect.Struct:
		extra, has := kind.FieldByName("Extra")
		assert.True(t, has && extra.Type == reflect.TypeFor[map[string]json.RawMessage](), "%s has no Extra", kind)
		for _, field := range catalogue.JSONFields(kind) {
			assertExtra(t, field, append(slices.Clone(above), kind))
		}
	}
}

// listLosses checks that an item of a list that is not an object is reported.
func listLosses(t *testing.T) {
	for _, odd := range []string{`7`, `"odd"`, `[1]`, `true`} {
		for _, ahead := range []int{0, 2} {
			var page forge.Response
			client := jsonClient(t, `[{"id":1},`+odd+`,{"id":3}]`)
			issues, err := forge.Collect(client.Issues.List(t.Context(), nil, forge.Into(&page), forge.Ahead(ahead)))
			named := slices.ContainsFunc(page.Mismatches, func(m forge.Mismatch) bool { return m.Pointer == "/1" })
			assert.True(t, err != nil || named && len(issues) == 3, "an item %s: %d issues, %v, and no error", odd, len(issues), page.Mismatches)
		}
	}
}
