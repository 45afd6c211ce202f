package forge

import (
	"net"
	"net/url"
	"strings"
)

// parseBase reads a configured address. The address itself is kept out of the errors: it may hold a password.
func parseBase(option, raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if reason := badBase(raw, u, err); reason != "" {
		return nil, &ValidationError{Option: option, Reason: reason}
	}
	u.Path, u.Host = strings.TrimRight(u.Path, "/"), strings.ToLower(u.Host)
	return u, nil
}

// badBase says what is wrong with an address.
func badBase(raw string, u *url.URL, err error) string {
	switch {
	case raw == "":
		return "the address is empty"
	case strings.TrimSpace(raw) != raw || hasControl(raw):
		return "the address has spaces or control bytes around or in it"
	case err != nil:
		return "the address cannot be parsed; it must look like https://forge.example.com"
	case u.Scheme != "https" && u.Scheme != "http":
		return "the address must begin with https://"
	case u.User != nil:
		return "the address holds a user or password: use a credential option"
	case u.RawQuery != "" || u.ForceQuery:
		return "the address has a query"
	case u.Fragment != "" || strings.Contains(raw, "#"):
		return "the address has a fragment"
	case u.Hostname() == "" || u.Opaque != "" || strings.ContainsAny(u.Host, `\ "<>^{|}%`) || strings.HasSuffix(u.Host, ":"):
		return "the address has no usable host"
	case strings.Contains(strings.ToUpper(u.RawPath), "%2F"):
		return "the path of the address has escaped slashes"
	}
	if path := strings.TrimRight(u.Path, "/"); path != "" && badParts(path[1:]) != "" {
		return "the path of the address has empty or dotted parts, or control bytes"
	}
	return ""
}

// at gives the address of a path. Parsing its text would give the same, and take most of a small call's time.
func at(base *url.URL, p wirePath) url.URL {
	u := *base
	if u.Path, u.RawPath = p.plain, p.escaped; p.plain == p.escaped {
		u.RawPath = ""
	}
	return u
}

// sameOrigin compares scheme, host and port.
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

// isLoopback tells the hosts that are this machine whatever the resolver says.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 })
}
