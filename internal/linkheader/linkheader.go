// Package linkheader reads the link to the next page from Link headers, and finds loops in the
// links that were followed.
package linkheader

import (
	"math/bits"
	"net/http"
	"strings"
)

// Next returns the address of the link with rel "next" in the Link headers (RFC 8288). There may be
// several headers with several links each, parameters in any order, quoted or not, and commas and
// semicolons inside an address. found distinguishes a link with an empty address from none.
func Next(h http.Header) (address string, found bool) {
	for _, header := range h.Values("Link") {
		for rest := header; rest != ""; {
			if address, found, rest = readLink(rest); found {
				return address, true
			}
		}
	}
	return "", false
}

// readLink reads the link at the front of s and returns what follows it.
func readLink(s string) (address string, next bool, rest string) {
	open := strings.IndexByte(s, '<')
	if open < 0 {
		return "", false, ""
	}
	s = s[open+1:]
	end := strings.IndexByte(s, '>')
	if end < 0 {
		return "", false, ""
	}
	address, s = s[:end], s[end+1:]
	for {
		separator := strings.IndexAny(s, ",;")
		if separator < 0 {
			return address, next, ""
		}
		if s = s[separator:]; s[0] == ',' {
			return address, next, s
		}
		var name, value string
		name, value, s = readParam(s[1:])
		if strings.EqualFold(name, "rel") && hasWord(value, "next") {
			next = true
		}
	}
}

// readParam reads the parameter at the front of s, which follows a semicolon, and returns what
// follows it.
func readParam(s string) (name, value, rest string) {
	end := strings.IndexAny(s, "=,;")
	if end < 0 {
		return s, "", ""
	}
	if name = strings.TrimSpace(s[:end]); s[end] != '=' {
		return name, "", s[end:]
	}
	s = strings.TrimLeft(s[end+1:], " \t")
	if s == "" || s[0] != '"' {
		end := strings.IndexAny(s, ",;")
		if end < 0 {
			end = len(s)
		}
		return name, strings.TrimSpace(s[:end]), s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return name, b.String(), s[i+1:]
		case '\\':
			i++
		}
		if i < len(s) {
			b.WriteByte(s[i])
		}
	}
	return name, b.String(), ""
}

// hasWord reports whether list, whose words are separated by spaces, contains word.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// LoopDetector finds a loop in a sequence of links in constant memory (Brent's algorithm), a few
// links after the loop has closed. The zero value is ready to use.
type LoopDetector struct {
	mark  string
	steps uint
}

// Seen records a link, and reports whether it was followed before.
func (d *LoopDetector) Seen(link string) bool {
	if link == d.mark {
		return true
	}
	if d.steps++; bits.OnesCount(d.steps) == 1 {
		d.mark = link
	}
	return false
}
