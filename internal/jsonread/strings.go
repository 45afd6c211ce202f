package jsonread

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// scanString reads a string and returns the bytes between its quotes. escaped reports that they
// contain escapes or invalid UTF-8, and need unescape.
func (r *Reader) scanString() (raw []byte, escaped bool) {
	r.pos++
	start, wide := r.pos, false
	for r.err == nil {
		if r.pos += plainPrefix(r.data[r.pos:]); r.pos >= len(r.data) {
			break
		}
		switch c := r.data[r.pos]; {
		case c == '"':
			raw = r.data[start:r.pos]
			r.pos++
			return raw, escaped || wide && !utf8.Valid(raw)
		case c == '\\':
			escaped = true
			r.escape()
		case c < ' ':
			r.fail("a control byte in a string")
		default:
			for wide = true; r.pos < len(r.data) && r.data[r.pos] >= utf8.RuneSelf; {
				r.pos++
			}
		}
	}
	r.fail("")
	return nil, false
}

// plainPrefix returns the number of bytes before the first quote, backslash, control byte or byte
// outside ASCII. It tests eight bytes at a time. One of the terms sets the high bit of such a byte,
// and possibly of later bytes, so only the lowest set bit is reliable. The subtractions are wrong
// for bytes outside ASCII, but these are hits in any case.
func plainPrefix(s []byte) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := binary.LittleEndian.Uint64(s[i:])
		hit := (w | (w ^ ones*'"' - ones) | (w ^ ones*'\\' - ones) | (w - ones*' ')) & highs
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// escape checks an escape sequence.
func (r *Reader) escape() {
	r.pos++
	if r.pos == len(r.data) {
		return
	}
	switch r.data[r.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		r.pos++
	case 'u':
		for range 4 {
			if r.pos++; r.pos == len(r.data) || !isHex(r.data[r.pos]) {
				r.fail("four hexadecimal digits were expected")
				return
			}
		}
		r.pos++
	default:
		r.fail("an unknown escape sequence")
	}
}

func isHex(c byte) bool { return c-'0' <= 9 || c-'a' <= 5 || c-'A' <= 5 }

// unescape appends the decoded text of a checked string to out. Invalid UTF-8 and lone surrogates
// become U+FFFD, as in encoding/json.
func unescape(out, raw []byte) []byte {
	for {
		n := plainPrefix(raw)
		out = append(out, raw[:n]...)
		if raw = raw[n:]; len(raw) == 0 {
			return out
		}
		switch {
		case raw[0] != '\\':
			c, size := utf8.DecodeRune(raw)
			out = utf8.AppendRune(out, c)
			raw = raw[size:]
		case raw[1] == 'u':
			c := hexRune(raw)
			raw = raw[6:]
			if utf16.IsSurrogate(c) {
				if c = utf16.DecodeRune(c, hexRune(raw)); c != utf8.RuneError {
					raw = raw[6:]
				}
			}
			out = utf8.AppendRune(out, c)
		default:
			out = append(out, unescaped(raw[1]))
			raw = raw[2:]
		}
	}
}

// hexRune returns the code unit of a \u escape at the front of s, or -1.
func hexRune(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	var n rune
	for _, c := range s[2:6] {
		n <<= 4
		if c <= '9' {
			n |= rune(c - '0')
		} else {
			n |= rune(c|0x20) - 'a' + 10
		}
	}
	return n
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}
