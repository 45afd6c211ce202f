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

// truth is what the server has to say to a read, asked without the client and without the network.
type truth struct {
	asked  bool
	status int
	raw    []byte // of a single value or a file
	items  []any  // of a list, all pages
	text   string // of a list, all pages, to compare
}

// same reports whether nothing moved between two moments.
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

// next is the address of the next page.
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

// generic is a value as JSON has it.
func generic(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return "cannot be marshalled: " + err.Error()
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		return "was marshalled to what is no JSON: " + err.Error()
	}
	return out
}

// parsed is a text as JSON has it.
func parsed(raw []byte) (out any) {
	if err := json.Unmarshal(raw, &out); err != nil {
		return "no JSON: " + err.Error()
	}
	return out
}

// key tells the items of a list apart.
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

// differ says where what was read is not what the server has; empty: nowhere. A value that is zero
// may be missing on either side. With part, the server may have more.
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

// zero reports whether nothing is in a value.
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

// sameLabel: labels come as texts or as objects, and are read into one type.
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
