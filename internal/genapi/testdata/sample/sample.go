// Package sample has one of each thing that an api file can list.
package sample

import (
	"encoding/json"
	"io"
	"iter"
	"net/http"

	"github.com/forge-sdk/forge-go/internal/genapi/testdata/sample/base"
)

// Limit and the constants below have values.
const (
	Limit         = 4 << 10
	Ratio         = 0.5
	Word     word = "a\"b"
	ErrWord       = failure("a text for people")
	hidden        = 1
	Untyped       = 'x'
	Computed      = Limit + hidden
)

type word string

type failure string

func (f failure) Error() string { return string(f) }

// Default is a variable.
var Default, other = &Client{}, 0

// Raw is an alias of a type that is itself an alias in some Go releases.
type Raw = json.RawMessage

// Count is a named basic type with a method on the value.
type Count int

// String is listed for the value.
func (c Count) String() string { return "" }

// Fetch has a function type and an unnamed struct.
type Fetch func(name string, more ...struct{ A int }) (body []byte, err error)

// Pair has type parameters.
type Pair[K comparable, V any] struct {
	Key    K
	Values map[K][]V
	next   *Pair[K, V]
}

// Swap is a method of a generic type.
func (p *Pair[K, V]) Swap(with *Pair[K, V]) {}

// Client has fields of all kinds.
type Client struct {
	*http.Client        // exported: has its own lines
	core                // unexported: its fields and methods are the client's
	Name, Alias  string `json:"name"`
	Events       <-chan [2]int
	Hidden       bool // hides core's
	base.Base
	io.Reader
}

type core struct {
	Depth  int
	Hidden string
	inner
}

type inner struct{ Deep any }

// Open is promoted through core.
func (c *core) Open(path string) (io.ReadCloser, error) { return nil, nil }

func (c *core) close() {}

// Empty has no fields.
type Empty struct{}

// Open interfaces can be implemented by callers.
type Open interface {
	io.Closer
	Next(n int) iter.Seq2[*Client, error]
}

// Sealed interfaces cannot.
type Sealed interface {
	Name() string
	sealed()
}

// Number is a constraint.
type Number interface{ ~int | ~int64 }

// Sum has a constraint.
func Sum[T Number](items ...T) (total T) { return total }

// Walk has named parameters and a function type with names.
func Walk(root string, visit func(path string, depth int) error) error { return nil }

func unexported() { (&core{}).close() }
