// Package known has functions whose mutants are all killed, and functions whose mutants all survive.
package known

import (
	"errors"
	"strings"
)

// KilledLoop sums the numbers up to n.
func KilledLoop(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += i + 1
	}
	return sum
}

// KilledText is lower-case text in brackets, "-" if it has none.
func KilledText(text, open, shut string) string {
	if text == "" || strings.HasPrefix(text, "-") {
		return "-"
	}
	return around(strings.ToLower(text), open, shut)
}

func around(text, open, shut string) string { return open + text + shut }

// KilledError reports negative numbers.
func KilledError(n int) error {
	if err := check(n); err != nil {
		return err
	}
	return nil
}

func check(n int) error {
	if n >= 0 {
		return nil
	}
	return errors.New("negative")
}

// KilledSwap calculates 4 + a - b.
func KilledSwap(a, b int) int {
	thrice := func(s string) string { return strings.Join([]string{s, s}, s) }
	return len(thrice("ab")) - minus(b, a) - 2
}

func minus(a, b int) int { return a - b }

// KilledEqual reports whether two texts differ in case at most. The order of arguments that are
// compared is not changed: that would survive.
func KilledEqual(a, b string) bool { return strings.EqualFold(a, b) }

// KilledType reports whether v is true.
func KilledType(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	}
	return false
}

// SurvivesEqual has mutants that change nothing.
func SurvivesEqual(n int) int {
	if n > 0 {
		n = max(n, 0)
	}
	return n
}

// SurvivesUnchecked runs in a test that checks nothing.
func SurvivesUnchecked(n int) int {
	n++
	return n + 1
}

// SurvivesUnreached runs in no test.
func SurvivesUnreached(ok bool) bool { return !ok && true }
