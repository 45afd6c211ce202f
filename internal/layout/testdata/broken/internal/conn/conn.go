// Package conn exports too much and imports the root package through another one.
package conn

import "github.com/forge-sdk/forge-go/internal/layout/testdata/broken/internal/task"

// A and B count once.
const (
	A = task.Version
	B = 2
)

// C counts, and its methods do not.
type C struct{ hidden int }

// Method does not count.
func (c C) Method() int { return c.hidden }

// New counts.
func New() C { return C{} }

var hidden, D = 1, 2

func private() int { return hidden }

var _ = private
