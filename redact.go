package forge

import (
	"strings"
	"unicode/utf8"
)

const (
	redacted      = "[redacted]"
	shortestToken = 8 // bytes; of a shorter token, as tests have, no text is made unreadable
	maxEnds       = 1 << 14
)

// redact takes a token out of text, whether it is written as it is or as addresses and JSON write it.
func redact(text, token string) string {
	if len(token) < shortestToken || len(text) < len(token) { // no way of writing it is shorter
		return text
	}
	if !hasEscapes(text) {
		if !strings.Contains(text, token) {
			return text
		}
		return strings.ReplaceAll(text, token, redacted)
	}
	m := matcher{text: text, token: token}
	return m.redact()
}

// matcher finds a token in text that has escapes. A byte that may begin an escape may also stand
// for itself, so there may be several ways to read the text.
type matcher struct {
	text, token string
	// ends memoises fork: a pair of a place in the text and one in the token that can be read in
	// two ways is tried once, so the work is linear in the length of the text.
	ends  map[[2]int]int
	steps int // comparisons
}

func (m *matcher) redact() string {
	var clean strings.Builder
	done := 0 // bytes of the text that are written
	for at := 0; at < len(m.text); {
		if len(m.ends) > maxEnds {
			clear(m.ends) // most of them are of places that are passed
		}
		end := -1
		if c := m.text[at]; c == m.token[0] || isEscape(c) {
			end = m.match(at, 0)
		}
		if end < 0 {
			at++
			continue
		}
		clean.WriteString(m.text[done:at])
		clean.WriteString(redacted)
		at, done = end, end
	}
	if done == 0 {
		return m.text
	}
	return clean.String() + m.text[done:]
}

// match returns where the longest spelling of token[j:] that begins at text[i] ends; -1 where none
// does.
func (m *matcher) match(i, j int) int {
	for j < len(m.token) {
		if i >= len(m.text) {
			return -1
		}
		m.steps++
		plain := m.text[i] == m.token[j]
		part, n, size := unescape(m.text[i:])
		escaped := size > 0 && j+n <= len(m.token) && m.token[j:j+n] == string(part[:n])
		switch {
		case plain && escaped:
			return m.fork(i, j, size, n)
		case plain:
			i, j = i+1, j+1
		case escaped:
			i, j = i+size, j+n
		default:
			return -1
		}
	}
	return i
}

// fork is match where text[i] may stand for itself, and may begin an escape of size bytes for n
// bytes.
func (m *matcher) fork(i, j, size, n int) int {
	place := [2]int{i, j}
	end, known := m.ends[place]
	if known {
		return end
	}
	end = max(m.match(i+1, j+1), m.match(i+size, j+n))
	if m.ends == nil {
		m.ends = map[[2]int]int{}
	}
	m.ends[place] = end
	return end
}

// isEscape reports whether an escape may begin with c.
func isEscape(c byte) bool { return c == '%' || c == '\\' || c == '+' }

// hasEscapes is strings.ContainsFunc with isEscape, several times as fast.
func hasEscapes(text string) bool {
	return strings.IndexByte(text, '%') >= 0 || strings.IndexByte(text, '\\') >= 0 || strings.IndexByte(text, '+') >= 0
}

// unescape reads the escape at the front of text: %41 and + of addresses, \u0041 and \/ of JSON. It
// is size bytes long and stands for part[:n]; size is 0 where there is none.
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

// parseHex reads hexadecimal digits, at most 7. It allocates nothing for what has none.
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
