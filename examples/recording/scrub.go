package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"strings"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	forge "github.com/forge-sdk/forge-go"
)

const redacted = "[redacted]"

const secretName = `[\w.%\[\]-]*(?:token|passw|passphrase|secret|private[_-]?key|access[_-]?key|api[_-]?key|credential|signature|assertion)[\w.%\[\]-]*`

var (
	secretKey = regexp.MustCompile(`(?i)^` + secretName + `$`)
	publicKey = regexp.MustCompile(`(?i)^page_token$|_(?:at|type|prefix)$`)
	// A parameter of a query or a form, also inside other text.
	parameter = regexp.MustCompile(`(?i)(^|[?&;\s])(` + secretName + `|code|code_verifier|sig)=([^&;\s"'<>#]+)`)
	// A field of an object in text that is not JSON as a whole, such as a line of a log.
	field    = regexp.MustCompile(`(?i)("` + secretName + `"\s*:\s*)"(?:[^"\\]|\\.)*"`)
	userinfo = regexp.MustCompile(`(://)[^/\s"'<>@]+@`)
)

// scrubber removes what must not be kept: the client's credential wherever it is, the server's
// address, headers that are not needed, and values with the name of a secret. Requests that are
// replayed are compared after the same removal, as their secrets are others than the recorded ones.
type scrubber struct {
	client  *forge.Client
	address string
}

func newScrubber(client *forge.Client) scrubber {
	return scrubber{client, strings.TrimSuffix(client.BaseURL(), "/api/v4")}
}

// exchange is the hook that removes secrets from an exchange before it is saved. It refuses bodies
// that it cannot search.
func (s scrubber) exchange(i *cassette.Interaction) error {
	from, to := i.Request, i.Response
	for _, headers := range []http.Header{from.Headers, to.Headers} {
		if kind := headers.Get("Content-Encoding") + headers.Get("Content-Type"); strings.Contains(kind, "multipart/") || headers.Get("Content-Encoding") != "" {
			return errors.New("a body of the type " + kind + " cannot be searched for secrets")
		}
	}
	i.Request = cassette.Request{Method: from.Method, URL: s.text(from.URL), Headers: s.headers(from.Headers), Body: s.text(from.Body)}
	i.Response = cassette.Response{Code: to.Code, Status: to.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Headers: s.headers(to.Headers), Body: s.text(to.Body)}
	i.Response.ContentLength = int64(len(i.Response.Body))
	return nil
}

// headers returns the headers that the client or a reader of the file may need. It omits others,
// such as credentials and cookies.
func (s scrubber) headers(headers http.Header) http.Header {
	kept := maps.Clone(headers)
	maps.DeleteFunc(kept, func(name string, values []string) bool {
		for i := range values {
			values[i] = s.text(values[i])
		}
		switch name {
		case "Accept", "Content-Type", "Content-Disposition", "Link", "Location", "Retry-After", "Etag", "Last-Modified", "Content-Range",
			"If-None-Match", "If-Match", "If-Modified-Since", "If-Range", "Range",
			"X-Page", "X-Per-Page", "X-Next-Page", "X-Prev-Page", "X-Total", "X-Total-Pages":
			return false
		}
		return true
	})
	return kept
}

func secret(name string) bool { return secretKey.MatchString(name) && !publicKey.MatchString(name) }

// text removes secrets from JSON, a form, an address or other text.
func (s scrubber) text(text string) string {
	text = s.client.Redact(strings.ReplaceAll(text, s.address, exampleURL))
	if start := strings.TrimSpace(text); strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[") {
		if clean, ok := s.json(text); ok {
			return clean
		}
	}
	text = userinfo.ReplaceAllString(text, "${1}redacted@")
	text = field.ReplaceAllString(text, `$1"`+redacted+`"`)
	return parameter.ReplaceAllStringFunc(text, func(found string) string {
		if m := parameter.FindStringSubmatch(found); !publicKey.MatchString(m[2]) {
			return m[1] + m[2] + "=" + redacted
		}
		return found
	})
}

// json removes secrets from JSON. If there are none, the text stays as it is.
func (s scrubber) json(text string) (clean string, ok bool) {
	var value any
	in := json.NewDecoder(strings.NewReader(text))
	in.UseNumber()
	if in.Decode(&value) != nil || in.More() {
		return "", false
	}
	changed := false
	value = s.value(value, false, &changed)
	if !changed {
		return text, true
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(out.String(), "\n"), err == nil
}

// value removes secrets from a JSON value: all texts in it if it is below the name of a secret.
func (s scrubber) value(value any, hidden bool, changed *bool) any {
	switch v := value.(type) {
	case string:
		clean := s.text(v)
		if hidden && v != "" {
			clean = redacted
		}
		*changed = *changed || clean != v
		return clean
	case []any:
		for i := range v {
			v[i] = s.value(v[i], hidden, changed)
		}
	case map[string]any:
		for name := range v {
			v[name] = s.value(v[name], hidden || secret(name), changed)
		}
	}
	return value
}
