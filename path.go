package forge

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxArgument = 2 << 10 // bytes of one path argument

// wirePath is a path as it is sent, and the same path decoded.
type wirePath struct{ escaped, plain string }

// expandTemplate returns the path of a template with its arguments, after the prefix. Each argument
// is checked, and escaped as one segment. All paths are built here. A trailing slash of the
// template stays; the optional part in brackets is omitted if its argument is empty. The function
// keeps no reference to args, so the caller's slice is not allocated on the heap.
func expandTemplate(prefix wirePath, template string, args []any) (wirePath, error) {
	escaped, plain := append(make([]byte, 0, 256), prefix.escaped...), append(make([]byte, 0, 256), prefix.plain...)
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
		if isPathArgument(before, name) {
			err = checkPath(name, text)
		}
		err = firstError(err, checkArgument(name, text))
		if err != nil {
			return wirePath{}, err
		}
		escaped, plain = append(escaped, escapeArgument(name, text)...), append(plain, text...)
	}
	if next < len(args) {
		return wirePath{}, argumentError(template, fmt.Sprintf("the route has %d placeholders, and there are %d arguments", next, len(args)))
	}
	if string(escaped) == string(plain) {
		path := string(plain)
		return wirePath{path, path}, nil
	}
	return wirePath{string(escaped), string(plain)}, nil
}

// placeholder returns the name of the placeholder at the front of s.
func placeholder(s string) string {
	end := 0
	for end < len(s) && (s[end] == '_' || s[end] >= 'a' && s[end] <= 'z') {
		end++
	}
	return s[:end]
}

// missing stands for an argument that is nil. Its text is for callers: what to do.
type missing string

// argumentText returns the text of an argument: a Ref, a number or a string.
func argumentText(name string, arg any) (string, error) {
	switch v := arg.(type) {
	case string:
		return v, nil
	case int64:
		if v <= 0 {
			return "", argumentError(name, fmt.Sprintf("%d is not positive", v))
		}
		return strconv.FormatInt(v, 10), nil
	case ID: // not a pointer to one, which may be nil
		return refText(name, v)
	case namespaceSegment:
		return refText(name, v)
	case Path:
		return string(v), nil
	case Text:
		return string(v), nil
	case missing:
		return "", argumentError(name, string(v))
	case nil:
		return "", argumentError(name, "it is nil: use forge.ID or forge.Path")
	default:
		return "", argumentError(name, "it has type "+reflect.TypeOf(arg).String())
	}
}

func refText(name string, arg Ref) (string, error) {
	text, err := arg.useIDOrPath()
	if err != nil {
		return "", argumentError(name, err.Error())
	}
	return text, nil
}

// checkArgument rejects an argument that would make the path name another object: because the
// argument is empty or has dotted parts, or because a proxy decodes it.
func checkArgument(name, text string) error {
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
	case strings.Contains(text, "://"):
		reason = "it is an address: use the path in it, such as group/app"
	default:
		reason = pathProblem(text)
		if decoded := unescapeLoosely(text); reason == "" && decoded != text {
			if reason = pathProblem(decoded); reason != "" {
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
// These cannot have a %; names of branches, tags, files and keys can.
func isPathArgument(before, name string) bool {
	switch name {
	case "project", "project_id", "group", "group_id", "namespace", "namespace_id", "image_path":
		return true
	}
	return strings.HasSuffix(before, "/projects/") || strings.HasSuffix(before, "/groups/") || strings.HasSuffix(before, "/namespaces/")
}

// checkPath rejects a URL, and a path that is escaped already, as other clients expect it.
func checkPath(name, path string) error {
	reason := ""
	if _, after, isURL := strings.Cut(path, "://"); isURL {
		reason = "it is a URL: use the path of the object"
		_, after, _ = strings.Cut(after, "/")
		if end := strings.IndexAny(after, "?#"); end >= 0 {
			after = after[:end]
		}
		plain, _, _ := strings.Cut(after, "/-/")
		if plain = strings.TrimSuffix(strings.Trim(plain, "/"), ".git"); pathProblem(plain) == "" {
			reason = "it is a URL: use " + strconv.Quote(plain)
		}
	} else if checkArgument(name, path) == nil {
		if reason = cmp.Or(oddReason(path), escapedReason(path)); reason == "" && name == "image_path" && strings.ToLower(path) != path {
			reason = "image paths have no capital letters: use " + strconv.Quote(strings.ToLower(path))
		}
	}
	if reason != "" {
		return argumentError(name, reason)
	}
	return nil
}

// oddReason returns why a path is one of a page, of a clone address or of a command line; "" if it
// is not.
func oddReason(path string) string {
	plain, what := path, ""
	if trimmed := strings.TrimSpace(plain); trimmed != plain {
		plain, what = trimmed, "it has spaces around it"
	}
	if strings.Contains(plain, `\`) {
		plain, what = strings.ReplaceAll(plain, `\`, "/"), "it has backslashes"
	}
	if host, rest, found := strings.Cut(plain, ":"); found && strings.Contains(host, "@") && !strings.Contains(host, "/") {
		plain, what = strings.TrimSuffix(rest, ".git"), "it is a clone address"
	}
	if name, found := strings.CutPrefix(plain, "@"); found {
		plain, what = name, "it begins with @"
	}
	if before, query, _ := strings.Cut(plain, "?"); strings.Contains(query, "=") {
		plain, what = before, "it has a query"
	}
	if before, _, found := strings.Cut(plain, "/-/"); found {
		plain, what = before, "it is the path of a page"
	}
	if what == "" {
		return ""
	}
	return what + ": use " + strconv.Quote(plain)
}

func escapedReason(path string) string {
	plain := unescapeAll(path)
	if plain == path {
		return ""
	}
	return "it is escaped already: use " + strconv.Quote(plain) + ", which the client escapes"
}

// pathProblem returns why a path is not valid; "" if it is.
func pathProblem(text string) string {
	if hasControl(text) {
		return "it has control bytes"
	}
	for part := range strings.SplitSeq(text, "/") {
		switch part {
		case "":
			return "it has an empty part: remove slashes at its ends, and double ones"
		case ".", "..":
			return "it has the part " + strconv.Quote(part)
		}
	}
	return ""
}

// unescapeLoosely decodes the valid escapes only and leaves the rest, as a lenient proxy does.
func unescapeLoosely(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unescapeAll decodes escapes, nested ones included, until none is left. The work is linear in the
// length of s.
func unescapeAll(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	plain := make([]byte, 0, len(s))
	for _, c := range []byte(s) {
		plain = append(plain, c)
		for n := len(plain); n >= 3 && plain[n-3] == '%'; n = len(plain) {
			decoded, err := strconv.ParseUint(string(plain[n-2:]), 16, 8)
			if err != nil {
				break
			}
			plain = append(plain[:n-3], byte(decoded))
		}
	}
	return string(plain)
}

// escapeArgument escapes text as one segment. An image path keeps its slashes. An underscore needs
// no escape; Document 1 §4.2 also accepts %5F.
func escapeArgument(name, text string) string {
	escaped := url.PathEscape(text)
	if name == "image_path" {
		escaped = strings.ReplaceAll(escaped, "%2F", "/")
	}
	return escaped
}

func argumentError(name, reason string) error {
	return &ValidationError{Option: "argument", Param: name, Reason: reason}
}

// parseBase parses a configured address. Errors do not contain the address, which may have a
// password.
func parseBase(option, param, raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if reason := baseURLProblem(raw, u, err); reason != "" {
		if option != "baseURL" {
			reason = strings.TrimSuffix(reason, passedWithToken)
		}
		return nil, &ValidationError{Option: option, Param: param, Reason: reason}
	}
	u.Path, u.Host = strings.TrimRight(u.Path, "/"), strings.ToLower(u.Host)
	return u, nil
}

// passedWithToken ends the error for a first argument of NewClient that may be a token.
const passedWithToken = "; a token is passed with WithToken"

// baseURLProblem returns why an address is not valid; "" if it is.
func baseURLProblem(raw string, u *url.URL, err error) string {
	switch {
	case raw == "":
		return "the address is empty"
	case strings.TrimSpace(raw) != raw || hasControl(raw):
		return "the address has spaces or control bytes around or in it"
	case strings.ContainsAny(raw[:1], `"'$`):
		return "the address is in quotes, or it is the name of a variable: pass its value alone"
	case err != nil:
		return "the address cannot be parsed; it must look like https://forge.example.com"
	case u.Scheme != "https" && u.Scheme != "http":
		return "the address must begin with https://" + passedWithToken
	case u.User != nil:
		return "the address contains a user or password: use a credential option"
	case u.RawQuery != "" || u.ForceQuery:
		return "the address has a query"
	case strings.Contains(raw, "#"):
		return "the address has a fragment"
	case u.Hostname() == "" || strings.ContainsAny(u.Host, `\ "<>^{|}%`) || strings.HasSuffix(u.Host, ":"):
		return "the address has no usable host"
	case u.Port() != "" && !isPort(u.Port()):
		return "the port of the address is not between 1 and 65535"
	case strings.Contains(strings.ToUpper(u.RawPath), "%2F"):
		return "the path of the address has escaped slashes"
	}
	if path := strings.TrimRight(u.Path, "/"); path != "" && pathProblem(path[1:]) != "" {
		return "the path of the address has empty or dotted parts, or control bytes"
	}
	return ""
}

// joinURL returns the URL of a path. Parsing its text would return the same URL, but take most of
// the time of a small call.
func joinURL(base *url.URL, p wirePath) url.URL {
	u := *base
	if u.Path, u.RawPath = p.plain, p.escaped; p.plain == p.escaped {
		u.RawPath = ""
	}
	return u
}

// sameOrigin reports whether scheme, host and port are equal.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// isPort reports whether text is the number of a port.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// isLoopback reports whether a host is this machine, without a DNS query.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, unicode.IsControl)
}

// namespaceSegment is the last part of a namespace's full path.
type namespaceSegment string

func (p namespaceSegment) useIDOrPathOrText() {}

func (p namespaceSegment) useIDOrPath() (string, error) {
	if strings.Contains(unescapeAll(string(p)), "/") {
		return "", errors.New("it has a /, and the server compares one segment: use the last part, and NamespaceExistsOptions.ParentID for the group before it")
	}
	return string(p), nil
}
