// Package sample has a finding of each kind.
package sample

// Answer is not a finding: the name is declared next. But it gives one.
type Answer struct {
	Member int // a member of nothing, and `an answer` in code
}

// Join gives up, which is right in its context. Its page repeats, too.
func Join() {}

// The rule is in missing.go, in docs/guide.md, "No such heading", and in docs/guide.md, "Rules".
var _ = "an answer"

// This line is much longer than the hundred columns that a comment may have, as anyone can see here.....
var _ = Join // Design 3.2 has it, and it is sent at once

// Sum is an example:
//
//	indented code that tells
var Sum = 1 //nolint:errcheck // it tells nothing
