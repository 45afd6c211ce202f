package simulation

import (
	"context"
	"iter"
	"slices"
	"sync"

	forge "github.com/forge-sdk/forge-go"
)

// row is one method of the client, as a step calls it.
type row struct {
	name, route string // "Issues.List", "GET /issues"
	// Exactly one of these is set.
	value func(c *calling) (any, error)
	items func(c *calling) (all iter.Seq2[any, error], collect func() ([]any, error))
	open  func(c *calling) (*forge.Download, error)

	// setup creates the object that the step writes to, before the program begins.
	setup func(f *fixtures, s *Step)
	// moving: the result of a read changes with the program or with time.
	moving bool
	// more: the step may send other requests than that of the route, such as for a registry token.
	more bool
	// whole: the list has no pages.
	whole bool
	// part: the Go type lacks some fields of the server's object.
	part bool
	// upload: the step sends a file.
	upload bool
}

// calling holds the arguments that a step passes to a method.
type calling struct {
	ctx    context.Context //nolint:containedctx // it is an argument of the methods
	client *forge.Client
	opts   []forge.RequestOption
	f      *fixtures
	s      *Step
	file   forge.File
}

var (
	app  = forge.Path("acme/app")
	work = forge.Path("acme/work")
	acme = forge.Path("acme")
)

func value[T any](name, route string, call func(c *calling) (*T, error)) *row {
	return &row{name: name, route: route, value: func(c *calling) (any, error) {
		v, err := call(c)
		if v == nil {
			return nil, err
		}
		return v, err
	}}
}

func nothing(name, route string, call func(c *calling) error) *row {
	return &row{name: name, route: route, value: func(c *calling) (any, error) { return nil, call(c) }}
}

func items[T any](name, route string, call func(c *calling) iter.Seq2[*T, error]) *row {
	return &row{name: name, route: route, items: func(c *calling) (iter.Seq2[any, error], func() ([]any, error)) {
		list := call(c)
		all := func(yield func(any, error) bool) {
			list(func(item *T, err error) bool {
				if item == nil {
					return yield(nil, err)
				}
				return yield(item, err)
			})
		}
		return all, func() (untyped []any, err error) {
			typed, err := forge.Collect(list)
			for _, item := range typed {
				untyped = append(untyped, item)
			}
			return untyped, err
		}
	}}
}

func stream(name, route string, call func(c *calling) (*forge.Download, error)) *row {
	return &row{name: name, route: route, open: call}
}

// with sets the fields that few rows need.
func (r *row) with(change func(r *row)) *row {
	change(r)
	return r
}

func (r *row) writes() bool { return r.class() != forge.ClassSafe }

func (r *row) class() forge.RetryClass { return classes()[r.route] }

// classes returns the retry class of each route.
var classes = sync.OnceValue(func() map[string]forge.RetryClass {
	all := map[string]forge.RetryClass{}
	for _, r := range forge.Routes() {
		all[r.Method+" "+r.Template] = r.Class
	}
	return all
})

// calls returns all rows. They are created once, outside of any bubble, and never change.
var calls = sync.OnceValue(allCalls)

func allCalls() []*row {
	return slices.Concat(registryCalls(), nativeCalls(), codeCalls(), fileCalls(), settingCalls(), integrationCalls(), eventCalls(), issueCalls(),
		mergeCalls(), userCalls(), runnerCalls(), otherCalls())
}
