package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"time"
)

// truth is the server's response to a read, without the client and without the network.
type truth struct {
	asked  bool
	status int
	raw    []byte // of a single value or a file
	items  []any  // of a list, all pages
	text   string // of a list, all pages, to compare
}

// same reports whether nothing changed between two reads.
func (t truth) same(other truth) bool {
	return t.asked && other.asked && t.status == other.status && string(t.raw) == string(other.raw) && t.text == other.text
}

// ask reads an address with the credential of the step's client.
func (p *player) ask(o *observed, address string) (t truth) {
	if address == "" {
		return truth{}
	}
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	t.asked = true
	if o.row.items == nil {
		response := p.get(o, u)
		t.status, t.raw = response.Code, response.Body.Bytes()
		return t
	}
	query := u.Query()
	query.Set("per_page", "100")
	u.RawQuery = query.Encode()
	for u != nil {
		response := p.get(o, u)
		if response.Code == http.StatusMethodNotAllowed && query.Has("pagination") {
			for _, name := range []string{"pagination", "order_by", "sort"} {
				query.Del(name)
			}
			u.RawQuery = query.Encode()
			response = p.get(o, u)
		}
		t.status = response.Code
		t.text += response.Body.String()
		var page []any
		if json.Unmarshal(response.Body.Bytes(), &page) != nil {
			return t
		}
		t.items = append(t.items, page...)
		u = next(response.Header())
	}
	return t
}

func (p *player) get(o *observed, u *url.URL) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, u.String(), nil)
	name, token := p.credential(o.step.Client)
	if token != "" {
		r.Header.Set(name, token)
	}
	recorder := httptest.NewRecorder()
	p.w.below.ServeHTTP(recorder, r)
	return recorder
}

// next returns the address of the next page.
func next(header http.Header) *url.URL {
	for link := range strings.SplitSeq(header.Get("Link"), ",") {
		address, rest, _ := strings.Cut(link, ">")
		if strings.Contains(rest, `rel="next"`) {
			u, err := url.Parse(strings.Trim(address, " <"))
			if err != nil {
				panic(err)
			}
			return u
		}
	}
	return nil
}

// generic returns a value as encoding/json decodes it.
func generic(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return "cannot be marshalled: " + err.Error()
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		return "was not marshalled to JSON: " + err.Error()
	}
	addExtra(reflect.ValueOf(v), out)
	return out
}

// addExtra adds the values of the Extra maps of a value, which encoding/json does not write, to
// what it has written.
func addExtra(v reflect.Value, written any) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch written := written.(type) {
	case []any:
		for i := range written {
			if v.Kind() == reflect.Slice {
				addExtra(v.Index(i), written[i])
			}
		}
	case map[string]any:
		if v.Kind() != reflect.Struct {
			return
		}
		for field, value := range v.Fields() {
			if !field.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			switch extra, is := value.Interface().(map[string]json.RawMessage); {
			case is && field.Name == "Extra":
				for key, raw := range extra {
					written[key] = parsed(raw)
				}
			case field.Anonymous && name == "":
				addExtra(value, written)
			default:
				addExtra(value, written[name])
			}
		}
	}
}

// parsed returns a text as encoding/json decodes it.
func parsed(raw []byte) (out any) {
	if err := json.Unmarshal(raw, &out); err != nil {
		return "not JSON: " + err.Error()
	}
	return out
}

// key returns the identity of a list's item.
func key(item any) string {
	object, is := item.(map[string]any)
	if !is {
		return fmt.Sprint(item)
	}
	var parts []string
	for _, name := range []string{"id", "iid", "key", "name", "path", "email", "slug", "system_id", "title"} {
		if v, has := object[name]; has && v != nil && v != "" {
			parts = append(parts, fmt.Sprint(name, "=", v))
		}
	}
	return strings.Join(parts, " ")
}

func keys(list []any) []string {
	names := make([]string, len(list))
	for i, item := range list {
		names[i] = key(item)
	}
	return names
}

// differ describes the first difference between a stored value and a read value; empty: none. A
// zero value may be missing on either side. If part is true, the server may have more fields.
func differ(at string, stored, got any, part bool) string {
	switch stored := stored.(type) {
	case map[string]any:
		object, is := got.(map[string]any)
		if !is {
			return zeroes(at, stored, got)
		}
		for name, v := range stored {
			other, has := object[name]
			if part && !has {
				continue
			}
			if text := differ(at+"."+name, v, other, part); text != "" {
				return text
			}
		}
		for name, v := range object {
			if _, has := stored[name]; !has && !zero(v) {
				return fmt.Sprintf("%s.%s is %v, and the server has no such field", at, name, v)
			}
		}
		return ""
	case []any:
		list, is := got.([]any)
		if !is || len(list) != len(stored) {
			return zeroes(at, stored, got)
		}
		for i := range stored {
			if text := differ(fmt.Sprintf("%s[%d]", at, i), stored[i], list[i], part); text != "" {
				return text
			}
		}
		return ""
	case string:
		if sameTime(stored, got) || sameLabel(stored, got) {
			return ""
		}
	}
	if reflect.DeepEqual(stored, got) {
		return ""
	}
	return zeroes(at, stored, got)
}

func zeroes(at string, stored, got any) string {
	if zero(stored) && zero(got) {
		return ""
	}
	return fmt.Sprintf("%s is %v, and the server has %v", at, got, stored)
}

// zero reports whether a value is empty or zero.
func zero(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			if !zero(inner) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	case nil:
		return true
	case string:
		return v == "" || v == "0001-01-01T00:00:00Z"
	}
	return reflect.ValueOf(v).IsZero()
}

// sameLabel compares labels: the server sends texts or objects, and the client has one type for
// both.
func sameLabel(stored string, got any) bool {
	object, is := got.(map[string]any)
	if !is || object["name"] != stored {
		return false
	}
	for name, v := range object {
		if name != "name" && !zero(v) {
			return false
		}
	}
	return true
}

func sameTime(stored string, got any) bool {
	text, is := got.(string)
	if !is {
		return false
	}
	a, err := time.Parse(time.RFC3339Nano, stored)
	b, other := time.Parse(time.RFC3339Nano, text)
	return err == nil && other == nil && a.Equal(b)
}
