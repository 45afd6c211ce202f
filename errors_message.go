package forge

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

const (
	maxErrorBody   = 64 << 10 // bytes of an error response that are read
	maxErrorFields = 64
	maxErrorDepth  = 4
	maxErrorWork   = 16 * maxErrorBody // bytes that are examined; a usual body takes a few times its size
)

// The codes with which GitLab's token layer refuses a call.
const (
	insufficientScope        = "insufficient_scope"
	insufficientGranularity  = "insufficient_granular_scope" // of a fine-grained token
	missingProofOfPossession = "dpop_error"
)

// cleaner makes text from outside safe to show, in at most limit bytes.
type cleaner func(text string, limit int) string

// readMessage returns the message and the field errors of an error response. The contract documents
// one form only (Document 1 §7); real servers send several, and proxies send anything.
func readMessage(body []byte, contentType string, clean cleaner) (message string, fields map[string][]string) {
	if isHTML(contentType) || contentType == "" && beginsPage(body) {
		return clean(htmlTitle(string(body)), maxErrorText), nil
	}
	var r jsonread.Reader
	r.Reset(body)
	kind := r.Kind()
	names := [...]string{"message", "error", "error_description", "errors", "scope"}
	var values [len(names)][]byte
	for open := r.Object(); open && r.Key(); {
		name, value := string(r.CurrentKey()), r.View()
		if i := slices.Index(names[:], name); i >= 0 {
			values[i] = value
		}
	}
	if r.End() != nil || kind != "object" && kind != "null" {
		return clean(string(body), maxErrorText), nil
	}
	f := fieldErrors{clean: clean}
	for _, text := range values[:3] {
		f.add("", text, 0)
	}
	f.addRegistry(values[3])
	if f.seen[insufficientScope] && f.fields == nil {
		said := len(f.texts)
		f.add("scope", values[4], 0)
		f.texts = f.texts[:said] // the hint has it
	}
	return clean(strings.Join(f.texts, ": "), maxErrorText), f.fields
}

// fieldErrors collects the leaves of a message: strings, arrays of strings, objects of either.
type fieldErrors struct {
	clean  cleaner
	texts  []string
	seen   map[string]bool // the texts
	fields map[string][]string
	work   int // bytes examined; a long name counts again for each of its values
}

// add adds the leaves of a checked value.
func (f *fieldErrors) add(name string, raw []byte, depth int) {
	f.work += len(name) + len(raw)
	var r jsonread.Reader
	r.Reset(raw)
	switch kind := r.Kind(); {
	case len(raw) == 0 || kind == "null" || f.work > maxErrorWork:
	case kind == "string":
		var text string
		jsonread.Text(&text, &r)
		f.leaf(name, text)
	case depth > maxErrorDepth:
		f.leaf(name, string(raw))
	case kind == "array":
		for r.Array(); r.More(); {
			f.add(name, r.View(), depth+1)
		}
	case kind == "object":
		values := map[string][]byte{}
		var keys []string
		for r.Object(); r.Key(); {
			key := r.KeyText()
			if _, repeated := values[key]; !repeated {
				keys = append(keys, key)
			}
			values[key] = r.View() // the last value of a repeated key counts
		}
		slices.Sort(keys)
		for _, key := range keys {
			f.add(strings.TrimPrefix(name+"."+key, "."), values[key], depth+1)
		}
	default:
		f.leaf(name, string(raw))
	}
}

// addRegistry adds the errors of a container registry, which are objects with a code and a message.
func (f *fieldErrors) addRegistry(raw []byte) {
	if raw == nil { // Unmarshal would allocate
		return
	}
	var list []struct{ Code, Message string }
	_ = json.Unmarshal(raw, &list) // what is of another type stays empty
	for _, e := range list {
		f.leaf("", joinParts(": ", e.Code, e.Message))
	}
}

func (f *fieldErrors) leaf(name, text string) {
	text = f.clean(text, maxErrorText)
	if name == "" {
		f.say(text)
		return
	}
	name = f.clean(name, 256)
	if f.fields == nil {
		f.fields = map[string][]string{}
	}
	if _, known := f.fields[name]; !known && len(f.fields) >= maxErrorFields {
		return
	}
	f.fields[name] = append(f.fields[name], text)
	f.say(name + " " + text)
}

// say adds a text to the message, once.
func (f *fieldErrors) say(text string) {
	if text == "" || f.seen[text] {
		return
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[text] = true
	f.texts = append(f.texts, text)
}

// htmlTitle returns the title of a page, the only part of it that a caller can use.
func htmlTitle(page string) string {
	lower := strings.ToLower(page)
	start := strings.Index(lower, "<title>")
	if start < 0 || len(lower) != len(page) {
		return "an HTML page"
	}
	title, _, found := strings.Cut(page[start+len("<title>"):], "<")
	if !found || strings.TrimSpace(title) == "" {
		return "an HTML page"
	}
	return "an HTML page titled " + strings.TrimSpace(title)
}
