// Package racetest reports whether the race detector is on, which slows tests and allocates, and
// skips tests for it.
package racetest

import "testing"

// SkipSequential skips, with the race detector, a long test that does one thing after the other.
func SkipSequential(t testing.TB) {
	t.Helper()
	if Enabled {
		t.Skip("it does one thing after the other: there is nothing for the race detector to find")
	}
}
