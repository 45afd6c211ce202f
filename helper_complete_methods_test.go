package forge

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
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
