package jsonread

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// scanString reads a string and returns the bytes between its quotes. escaped reports that they
// contain escapes or invalid UTF-8, and need unescape.
func (r *Reader) scanString() (raw []byte, escaped bool) {
	text := r.data[r.pos+1:]
	n, wide := textPrefix(text)
	if n < len(text) && text[n] == '"' { // the common case
		r.pos += n + 2
		return text[:n], wide && !utf8.Valid(text[:n])
	}
	start := r.pos + 1
	for r.pos = start + n; r.pos < len(r.data) && r.data[r.pos] == '\\' && r.err == nil; r.pos += n {
		r.escape()
		n, _ = textPrefix(r.data[r.pos:])
	}
	switch {
	case r.err != nil:
	case r.pos < len(r.data) && r.data[r.pos] == '"':
		r.pos++
		return r.data[start : r.pos-1], true
	default:
		r.fail("a control byte in a string")
	}
	return nil, false
}

// Strings returns the number of strings at the front of the array that was just entered, at most
// 16: a capacity for them, which is small in any case.
func (r *Reader) Strings() (n int) {
	const most = 16
	text := r.data[r.pos:]
	for n < most && len(text) > 0 && text[0] == '"' {
		n++
		size, _ := textPrefix(text[1:])
		for text = text[1+size:]; len(text) > 1 && text[0] == '\\'; text = text[2+size:] {
			size, _ = textPrefix(text[2:])
		}
		if len(text) < 2 || text[0] != '"' || text[1] != ',' {
			break
		}
		text = text[2:]
	}
	return n
}

// textPrefix returns the number of bytes before the first quote, backslash or control byte. wide
// reports whether one of these bytes, or of the few after them, is outside ASCII. It tests eight
// bytes at a time. A term sets the high bit of such a byte, and possibly of later bytes, so only
// the lowest set bit is reliable. Bytes outside ASCII are not hits.
func textPrefix(s []byte) (n int, wide bool) {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	var seen uint64
	for rest := s; len(rest) >= 8; rest = rest[8:] {
		w := binary.LittleEndian.Uint64(rest)
		seen |= w
		hit := ((w ^ ones*'"' - ones) | (w ^ ones*'\\' - ones) | (w - ones*' ')) &^ w & highs
		if hit != 0 {
			return len(s) - len(rest) + bits.TrailingZeros64(hit)/8, seen&highs != 0
		}
	}
	for n = len(s) &^ 7; n < len(s); n++ {
		c := s[n]
		if c == '"' || c == '\\' || c < ' ' {
			break
		}
		seen |= uint64(c)
	}
	return n, seen&highs != 0
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
	if !utf8.Valid(raw) {
		raw = replaceInvalid(raw)
	}
	for {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			return append(out, raw...)
		}
		out = append(out, raw[:n]...)
		if raw = raw[n:]; raw[1] != 'u' {
			out = append(out, unescaped(raw[1]))
			raw = raw[2:]
			continue
		}
		c := hexRune(raw)
		raw = raw[6:]
		if utf16.IsSurrogate(c) {
			if c = utf16.DecodeRune(c, hexRune(raw)); c != utf8.RuneError {
				raw = raw[6:]
			}
		}
		out = utf8.AppendRune(out, c)
	}
}

// replaceInvalid returns raw with U+FFFD for each byte that is not UTF-8.
func replaceInvalid(raw []byte) []byte {
	out := make([]byte, 0, len(raw)+len(raw)/2)
	for _, c := range string(raw) {
		out = utf8.AppendRune(out, c)
	}
	return out
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
