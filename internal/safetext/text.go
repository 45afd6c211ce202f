package safetext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns one line of at most limit bytes of valid UTF-8 without control characters.
func Clean(s string, limit int) string { return Truncate(Printable(s), limit) }

// Printable returns one line of valid UTF-8 without control characters, which a terminal might
// obey.
func Printable(s string) string {
	if isPlain(s) {
		return strings.TrimSpace(s)
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s))
}

// isPlain reports whether text is printable as it is. Nearly all text is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i]-' ' >= 0x7f-' ' {
			return false
		}
	}
	return true
}

// Truncate returns s, or its first limit bytes and "..." if it is longer. It does not split a
// character.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "..."
}
