// Package safetext makes text from outside safe to store and to print: without credentials, control
// characters and excess length.
//
// Decisions:
//
//   - Text is first made printable, then redacted, then truncated. Removing control bytes may join
//     the parts of a token, so it comes before redaction. Truncation may leave a part of a token,
//     so it comes after.
//   - Redaction follows both readings of a byte that may begin an escape, and visits each pair of
//     positions in text and token once. Without the visited pairs, a token with many backslashes
//     takes exponential time.
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

// Redacted replaces a token.
const Redacted = "[redacted]"

const (
	minTokenLen = 8       // bytes; redacting a shorter token would make text unreadable
	maxVisited  = 1 << 14 // entries of matcher.visited
	escapeBytes = `%\+`   // an escape begins with one of these
)

// Redact returns text with each occurrence of token replaced by Redacted, whether the token is
// written plainly or escaped as in addresses or JSON. Text with a token shorter than 8 bytes is
// returned unchanged.
func Redact(text, token string) string {
	if len(token) < minTokenLen || len(text) < len(token) { // no spelling is shorter than the token
		return text
	}
	if !hasEscapes(text) {
		if !strings.Contains(text, token) {
			return text
		}
		return strings.ReplaceAll(text, token, Redacted)
	}
	m := matcher{text: text, token: token}
	return m.redact()
}

// matcher finds a token in text that has escapes.
type matcher struct {
	text, token string
	// visited has the pairs (i, j) for which match has followed two readings. A pair is followed
	// once, so the work is linear in the length of the text.
	visited map[[2]int]bool
	steps   int // calls of match
}

func (m *matcher) redact() string {
	var clean strings.Builder
	done := 0 // bytes of the text that are written
	for at := 0; at < len(m.text); {
		n := -1
		if c := m.text[at]; c == m.token[0] || isEscape(c) {
			n = m.matchLen(at)
		}
		if n < 0 {
			at++
			continue
		}
		clean.WriteString(m.text[done:at])
		clean.WriteString(Redacted)
		at += n
		done = at
	}
	if done == 0 {
		return m.text
	}
	return clean.String() + m.text[done:]
}

// matchLen returns the length of the longest prefix of text[at:] that decodes to the token. It is
// negative if there is none.
func (m *matcher) matchLen(at int) int {
	if len(m.visited) > maxVisited {
		clear(m.visited) // most of the pairs are before at
	}
	return m.match(at, 0) - at
}

// match returns the end of the longest prefix of text[i:] that decodes to token[j:], or -1. A byte
// may be an escape or stand for itself; both readings are followed. A visited pair is not followed
// again: the first visit has already returned its end, or there is none.
func (m *matcher) match(i, j int) int {
	switch {
	case j == len(m.token):
		return i
	case i == len(m.text):
		return -1
	}
	m.steps++
	part, n, size := unescape(m.text[i:])
	plain := m.text[i] == m.token[j]
	escaped := size > 0 && strings.HasPrefix(m.token[j:], string(part[:n]))
	if plain && escaped && !m.visit(i, j) {
		return -1
	}
	end := -1
	if plain {
		end = m.match(i+1, j+1)
	}
	if escaped {
		end = max(end, m.match(i+size, j+n))
	}
	return end
}

// visit adds a pair to visited, and reports whether it was new.
func (m *matcher) visit(i, j int) bool {
	pair := [2]int{i, j}
	if m.visited[pair] {
		return false
	}
	if m.visited == nil {
		m.visited = map[[2]int]bool{}
	}
	m.visited[pair] = true
	return true
}

// isEscape reports whether an escape may begin with c.
func isEscape(c byte) bool {
	return c == escapeBytes[0] || c == escapeBytes[1] || c == escapeBytes[2]
}

// hasEscapes reports whether an escape may begin in text. It is several times as fast as
// strings.ContainsAny.
func hasEscapes(text string) bool {
	for i := range len(escapeBytes) {
		if strings.IndexByte(text, escapeBytes[i]) >= 0 {
			return true
		}
	}
	return false
}

// unescape reads the escape at the front of text: %41 and + of addresses, \u0041 and \/ of JSON. It
// is size bytes long and decodes to part[:n]; size is 0 if there is none.
func unescape(text string) (part [utf8.UTFMax]byte, n, size int) {
	switch {
	case text[0] == '+':
		part[0], n, size = ' ', 1, 1
	case text[0] == '%' && len(text) >= 3:
		if b, ok := parseHex(text[1:3]); ok {
			part[0], n, size = byte(b), 1, 3
		}
	case text[0] == '\\' && len(text) >= 6 && text[1] == 'u':
		if r, ok := parseHex(text[2:6]); ok && utf8.ValidRune(r) {
			n, size = utf8.EncodeRune(part[:], r), 6
		}
	case text[0] == '\\' && len(text) >= 2:
		part[0], n, size = text[1], 1, 2
	}
	return part, n, size
}

// parseHex reads hexadecimal digits, at most 7. It does not allocate.
func parseHex(digits string) (n rune, ok bool) {
	for i := range len(digits) {
		switch c := digits[i]; {
		case c-'0' < 10:
			n = n<<4 | rune(c-'0')
		case c|0x20-'a' < 6:
			n = n<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}
