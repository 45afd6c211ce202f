package forgetest

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

const timestampLayout = "2006-01-02T15:04:05.000Z07:00"

// dependency is the view of merge request dependencies. It applies to their nested documents too.
const dependency = "dependency"

// encoder writes documents as JSON. base is the prefix of links; views selects fields of the
// outermost documents.
type encoder struct {
	base        string
	views       []string
	fieldNames  map[string]string        // other names of fields of the outermost documents
	isAvailable func(*availability) bool // whether the platform has a field; nil means all

	gitlab  bool     // terms of the deployed product
	changes *changes // of the objects; nil means unchanged
}

// encode returns the JSON form of a document, a list of documents, or any value that encoding/json
// accepts.
func (e encoder) encode(value any) []byte {
	return e.append(make([]byte, 0, 1024), value, "")
}

func (e encoder) append(b []byte, value any, format string) []byte {
	switch v := value.(type) {
	case nil:
		return append(b, "null"...)
	case *Document:
		return e.appendDocument(b, v)
	case []*Document:
		return appendList(b, v, e.appendDocument)
	case []string:
		return appendList(b, v, appendString)
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case string:
		return appendString(b, v)
	case link:
		return appendString(b, e.base+string(v))
	case time.Time:
		return appendTime(b, v, format)
	case map[string]string:
		if v == nil {
			return append(b, "{}"...)
		}
	case map[string]any:
		if v == nil {
			return append(b, "{}"...)
		}
	case singleField:
		return e.appendSingleField(b, v)
	}
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return append(b, data...)
}

func (e encoder) appendDocument(b []byte, d *Document) []byte {
	if d == nil {
		return append(b, "null"...)
	}
	nested := encoder{base: e.base, isAvailable: e.isAvailable, gitlab: e.gitlab, changes: e.changes}
	if slices.Contains(e.views, dependency) {
		nested.views = []string{dependency}
	}
	views := nested.views
	b = append(b, '{')
	shown := 0
	for i, f := range d.shape.fields {
		if _, gone := d.values[i].(absent); gone || !e.shows(f) {
			continue
		}
		if shown > 0 {
			b = append(b, ',')
		}
		shown++
		b = append(appendString(b, orElse(e.fieldNames[f.Name], f.Name)), ':')
		var changed bool
		if b, changed = e.changes.appendRetyped(b, f); changed {
			continue
		}
		if e.gitlab && deployedDecimals[f.Name] {
			b = appendDecimal(b, d.values[i])
			continue
		}
		nested.views = views
		if f.view != "" {
			nested.views = append(slices.Clip(views), f.view)
		}
		b = nested.append(b, d.values[i], f.Format)
	}
	return append(e.changes.appendUnknown(b, shown), '}')
}

// singleField is an object without a type in the contract.
type singleField struct {
	name  string // name of its only field
	value any
}

func (e encoder) appendSingleField(b []byte, o singleField) []byte {
	b = append(appendString(append(b, '{'), o.name), ':')
	b = e.append(b, o.value, "")
	return append(e.changes.appendUnknown(b, 1), '}')
}

// shows reports whether a field belongs to the view, the tier, the offering and the release.
func (e encoder) shows(f *field) bool {
	if len(f.Views) > 0 && !slices.ContainsFunc(e.views, func(v string) bool { return slices.Contains(f.Views, v) }) {
		return false
	}
	return f.Only == nil || e.isAvailable == nil || e.isAvailable(f.Only)
}

func appendList[T any](b []byte, list []T, item func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = item(b, v)
	}
	return append(b, ']')
}

func appendTime(b []byte, t time.Time, format string) []byte {
	layout := timestampLayout
	if format == "date" {
		layout = time.DateOnly
	}
	b = append(b, '"')
	b = t.AppendFormat(b, layout)
	return append(b, '"')
}

// appendString copies plain text and leaves the rest to encoding/json.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			data, _ := json.Marshal(s)
			return append(b, data...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
