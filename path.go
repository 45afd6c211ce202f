package forge

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

const maxArgument = 2 << 10 // bytes of one path argument

// wirePath is a path as it goes on the wire, and the same decoded.
type wirePath struct{ escaped, plain string }

// expand puts the arguments into a route's template, after the prefix, each checked and escaped as one segment. It is the only place
// where paths are made. A trailing slash of the template stays; the optional part in brackets falls away when its
// argument is the empty string. It keeps nothing of args, which therefore cost no memory.
func expand(prefix wirePath, template string, args []any) (wirePath, error) {
	escaped, plain := append(make([]byte, 0, 256), prefix.escaped...), append(make([]byte, 0, 128), prefix.plain...)
	next := 0
	for rest := template; rest != ""; {
		start := strings.IndexByte(rest, ':')
		if start < 0 {
			escaped, plain = append(escaped, rest...), append(plain, rest...)
			break
		}
		before, optional := strings.CutSuffix(rest[:start], "[.")
		name := placeholder(rest[start+1:])
		rest = rest[start+1+len(name):]
		if next == len(args) {
			return wirePath{}, argumentError(name, "it is missing")
		}
		text, err := argumentText(name, args[next])
		if err != nil {
			return wirePath{}, err
		}
		next++
		escaped, plain = append(escaped, before...), append(plain, before...)
		if optional {
			rest = strings.TrimPrefix(rest, "]")
			if text == "" {
				continue
			}
			escaped, plain = append(escaped, '.'), append(plain, '.')
		}
		err = checkArgument(name, text)
		if err == nil && isPathArgument(before, name) {
			err = checkUnescaped(name, text)
		}
		if err != nil {
			return wirePath{}, err
		}
		escaped, plain = appendEscaped(escaped, name, text), append(plain, text...)
	}
	if next < len(args) {
		return wirePath{}, argumentError(template, fmt.Sprintf("it takes %d arguments, not %d", next, len(args)))
	}
	if string(escaped) == string(plain) {
		whole := string(plain)
		return wirePath{whole, whole}, nil
	}
	n := len(escaped)
	both := string(append(escaped, plain...))
	return wirePath{both[:n], both[n:]}, nil
}

// placeholder cuts the name of a placeholder off the front of s.
func placeholder(s string) string {
	end := 0
	for end < len(s) && (s[end] == '_' || s[end] >= 'a' && s[end] <= 'z') {
		end++
	}
	return s[:end]
}

// argumentText gives the text of an argument: of a Ref, a number or a string.
func argumentText(name string, arg any) (string, error) {
	switch v := arg.(type) {
	case string:
		return v, nil
	case int64:
		if v <= 0 {
			return "", argumentError(name, fmt.Sprintf("%d is not positive", v))
		}
		return strconv.FormatInt(v, 10), nil
	case ID: // no pointer to one, which may be nil
		return refText(name, v)
	case namespaceSegment:
		return refText(name, v)
	case Path:
		return string(v), nil
	case nil:
		return "", argumentError(name, "it is nil: use forge.ID or forge.Path")
	default:
		return "", argumentError(name, "it has type "+reflect.TypeOf(arg).String())
	}
}

func refText(name string, arg Ref) (string, error) {
	text, err := arg.ref()
	if err != nil {
		return "", argumentError(name, err.Error())
	}
	return text, nil
}

// checkArgument refuses what would address something else than its caller meant: a path that an argument shortens,
// climbs out of, or that a proxy reads differently once it has decoded it.
func checkArgument(name, text string) error {
	if isSimple(text) {
		return nil
	}
	var reason string
	switch {
	case text == "":
		reason = "it is empty"
	case strings.TrimSpace(text) == "":
		reason = "it is blank"
	case len(text) > maxArgument:
		reason = "it is longer than 2 KiB"
	case !utf8.ValidString(text):
		reason = "it is not valid UTF-8"
	default:
		reason = badParts(text)
		if decoded := unescapeLoosely(text); reason == "" && decoded != text {
			if reason = badParts(decoded); reason != "" {
				reason = "once decoded, " + reason
			}
		}
	}
	if reason == "" {
		return nil
	}
	return argumentError(name, reason)
}

// isPathArgument reports whether the argument is the path of a project, group, namespace or image.
// In these no % is legal; names of branches, tags, files and keys may have one.
func isPathArgument(before, name string) bool {
	switch name {
	case "project", "project_id", "group", "group_id", "namespace", "namespace_id", "image_path":
		return true
	}
	return strings.HasSuffix(before, "/projects/") || strings.HasSuffix(before, "/groups/") || strings.HasSuffix(before, "/namespaces/")
}

// checkUnescaped refuses a path that is escaped, as callers of other clients are used to.
func checkUnescaped(name, path string) error {
	if reason := escapedReason(path); reason != "" {
		return argumentError(name, reason)
	}
	return nil
}

func escapedReason(path string) string {
	plain := unescapeAll(path)
	if plain == path {
		return ""
	}
	return "it is escaped already: use " + strconv.Quote(plain) + ", which the client escapes"
}

// isSimple tells the arguments that need no closer look: parts of letters, digits and - _ . which do not begin with a dot.
func isSimple(text string) bool {
	begins := true
	for i := range len(text) {
		switch c := text[i]; {
		case isWord(c):
			begins = false
		case begins:
			return false
		case c == '/':
			begins = true
		case c != '.':
			return false
		}
	}
	return !begins && len(text) <= maxArgument
}

func badParts(text string) string {
	if hasControl(text) {
		return "it has control bytes"
	}
	for part := range strings.SplitSeq(text, "/") {
		switch part {
		case "":
			return "it has an empty part"
		case ".", "..":
			return "it has the part " + strconv.Quote(part)
		}
	}
	return ""
}

// unescapeLoosely decodes what is a valid escape and leaves the rest, as a careless proxy would.
func unescapeLoosely(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, ok := parseHex(s[i+1 : i+3]); ok {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unescapeAll decodes escapes, and what they are escapes of, until none is left. Each byte is
// looked at a fixed number of times.
func unescapeAll(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	plain := make([]byte, 0, len(s))
	for _, c := range []byte(s) {
		plain = append(plain, c)
		for n := len(plain); n >= 3 && plain[n-3] == '%'; n = len(plain) {
			decoded, ok := parseHex(string(plain[n-2:]))
			if !ok {
				break
			}
			plain = append(plain[:n-3], byte(decoded))
		}
	}
	return string(plain)
}

// isWord tells letters, digits, - and _.
func isWord(c byte) bool { return c|0x20-'a' < 26 || c-'0' < 10 || c == '-' || c == '_' }

// appendEscaped makes one segment of text, as url.PathEscape does; an image path keeps its slashes.
func appendEscaped(b []byte, name, text string) []byte {
	const hex = "0123456789ABCDEF"
	start := 0
	for i := range len(text) {
		c := text[i]
		switch {
		case isWord(c), c == '.', c == '~', c == '$', c == '&', c == '+', c == ':', c == '=', c == '@', c == '/' && name == "image_path":
			continue
		}
		b = append(append(b, text[start:i]...), '%', hex[c>>4], hex[c&15])
		start = i + 1
	}
	return append(b, text[start:]...)
}

func argumentError(name, reason string) error {
	return &ValidationError{Option: "argument", Param: name, Reason: reason}
}
