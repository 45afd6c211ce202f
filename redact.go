package forge

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	redacted      = "[redacted]"
	shortestToken = 8 // bytes; of a shorter token, as tests have, no text is made unreadable
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
	starts := token[:1] + escapes
	var clean strings.Builder
	for {
		at := strings.IndexAny(text, starts)
		if at < 0 {
			return clean.String() + text
		}
		clean.WriteString(text[:at])
		size := spelled(text[at:], token)
		if size > 0 {
			clean.WriteString(redacted)
		} else {
			size = 1
			clean.WriteByte(text[at])
		}
		text = text[at+size:]
	}
}

// spelled is how many bytes at the front of text spell the token; -1 where they do not. A byte that may begin an escape may also
// stand for itself, so there may be several ways to read what was read. All are gone on with at once, for two that have come to the
// same place are one from there on.
func spelled(text, token string) int {
	var places [4][]int // that the bytes of the token up to one of them lead to, and up to the three after it
	places[0] = []int{0}
	for i := range len(token) {
		if len(places[0])+len(places[1])+len(places[2])+len(places[3]) == 0 {
			return -1
		}
		here := places[i%4]
		slices.Sort(here)
		for _, at := range slices.Compact(here) {
			if at == len(text) {
				continue
			}
			if next := &places[(i+1)%4]; text[at] == token[i] {
				*next = append(*next, at+1)
			}
			if part, size := unescape(text[at:]); size > 0 && strings.HasPrefix(token[i:], part) {
				next := &places[(i+len(part))%4]
				*next = append(*next, at+size)
			}
		}
		places[i%4] = here[:0]
	}
	return slices.Max(append(places[len(token)%4], -1))
}

// escapes are the bytes that an escape may begin with.
const escapes = `%\+`

// hasEscapes is strings.ContainsAny for escapes, several times as fast.
func hasEscapes(text string) bool {
	return strings.IndexByte(text, '%') >= 0 || strings.IndexByte(text, '\\') >= 0 || strings.IndexByte(text, '+') >= 0
}

// unescape reads the escape at the front of text: %41 and + of addresses, \u0041 and \/ of JSON. Its size is 0 where there is none.
func unescape(text string) (part string, size int) {
	switch {
	case text[0] == '+':
		return " ", 1
	case text[0] == '%' && len(text) >= 3:
		if b, err := strconv.ParseUint(text[1:3], 16, 8); err == nil {
			return string([]byte{byte(b)}), 3
		}
	case text[0] == '\\' && len(text) >= 6 && text[1] == 'u':
		if r, err := strconv.ParseUint(text[2:6], 16, 16); err == nil && utf8.ValidRune(rune(r)) {
			return string(rune(r)), 6
		}
	case text[0] == '\\' && len(text) >= 2:
		return text[1:2], 2
	}
	return "", 0
}
