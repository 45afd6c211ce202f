package contracttest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// wireForm compares a request with the catalogue.
type wireForm struct {
	t    *testing.T
	c    *conformanceCase
	call conformanceCall
}

// paging compares the parameters of pagination and removes them from the query.
func (w wireForm) paging(query url.Values, number int) {
	e := w.c.Endpoint
	size := "per_page"
	if e.ID == "registry_native.catalog" {
		size = "n" // the parameter of the registry, which the contract does not mention
	}
	want, have := url.Values{size: {strconv.Itoa(conformancePerPage)}}, url.Values{}
	if e.Pagination.Keyset {
		want.Set("pagination", "keyset")
		if order := e.Pagination.Order; order != nil && w.call.Sent["orderby"] == nil {
			want["order_by"] = []string{firstAmong(query.Get("order_by"), order.OrderBy)}
			want["sort"] = []string{firstAmong(query.Get("sort"), order.Sort)}
		} else if order != nil && !slices.Contains(order.OrderBy, w.call.Sent["orderby"].Texts[0]) {
			want.Del("pagination")
		}
	}
	if number > 0 {
		want.Set("page", strconv.Itoa(number+1))
	}
	for name := range query {
		if slices.Contains(catalogue.PageParams, name) || want.Has(name) {
			have[name] = query[name]
			delete(query, name)
			w.note(name)
		}
	}
	assert.Equal(w.t, want, have, "pagination")
}

func firstAmong(value string, list []string) string {
	if slices.Contains(list, value) {
		return value
	}
	return list[0]
}

// note records a parameter that the server has received.
func (w wireForm) note(wire string) {
	documented := slices.ContainsFunc(w.c.Endpoint.All(), func(p catalogue.Param) bool { return p.Wire == wire })
	if documented && !w.call.unchecked {
		w.c.arrived[wire] = true
	}
}

// body compares the body, which has one of the encodings in the catalogue.
func (w wireForm) body(r *contractRequest) {
	w.t.Helper()
	if len(w.c.Endpoint.Body) == 0 {
		assert.Empty(w.t, string(r.body), "body")
		return
	}
	media, params, err := mime.ParseMediaType(r.header.Get("Content-Type"))
	require.NoError(w.t, err)
	encoding := map[string]string{"application/json": "json", "application/x-www-form-urlencoded": "form", "multipart/form-data": "multipart"}[media]
	for _, param := range w.c.Endpoint.Body {
		assert.Contains(w.t, param.Encoding, encoding, "encoding of %s", param.Name)
	}
	switch encoding {
	case "json":
		var members map[string]any
		require.NoError(w.t, json.Unmarshal(r.body, &members))
		w.members(members)
	case "form":
		values, err := url.ParseQuery(string(r.body))
		require.NoError(w.t, err)
		w.compare(values, w.c.Endpoint.Body)
	case "multipart":
		form, err := multipart.NewReader(bytes.NewReader(r.body), params["boundary"]).ReadForm(1 << 20)
		require.NoError(w.t, err)
		values := url.Values(form.Value)
		for name, files := range form.File {
			file, err := files[0].Open()
			require.NoError(w.t, err)
			content, err := io.ReadAll(file)
			require.NoError(w.t, err)
			values.Add(name, files[0].Filename+":"+string(content))
		}
		w.compare(values, w.c.Endpoint.Body)
	}
}

// compare compares a query or a form.
func (w wireForm) compare(values url.Values, params []catalogue.Param) {
	w.t.Helper()
	have := map[string]any{}
	for wire, texts := range values {
		have[wire] = texts
	}
	wire := func(p catalogue.Param) string { return strings.Replace(p.Wire, "<key>", cases.HashKey, 1) }
	w.compareAll(have, flatParams(params), wire, func(s *cases.Sent) any { return s.Texts })
}

// members compares a JSON object.
func (w wireForm) members(members map[string]any) {
	w.t.Helper()
	name := func(p catalogue.Param) string { return p.Name }
	w.compareAll(members, w.c.Endpoint.Body, name, func(s *cases.Sent) any { return s.JSON })
}

func (w wireForm) compareAll(have map[string]any, params []catalogue.Param, name func(catalogue.Param) string, form func(*cases.Sent) any) {
	w.t.Helper()
	rest := maps.Clone(have)
	for _, param := range params {
		sent := w.sent(param)
		if sent == nil {
			continue
		}
		if assert.Equal(w.t, form(sent), have[name(param)], "values of %s", name(param)) {
			w.note(param.Wire)
		}
		delete(rest, name(param))
	}
	for wire, value := range rest {
		assert.True(w.t, w.c.known[wire], "the catalogue does not have %s", wire)
		if sent := w.call.Sent[cases.NameKey(wire)]; assert.NotNil(w.t, sent, wire) {
			assert.Equal(w.t, form(sent), value, wire)
		}
	}
}

// sent returns the expected wire form of a parameter; nil if the call omits it.
func (w wireForm) sent(param catalogue.Param) *cases.Sent {
	w.t.Helper()
	key := cases.NameKey(param.Wire)
	sent := w.call.Sent[key]
	switch {
	case param.Const != "":
		return &cases.Sent{Texts: []string{param.Const}, JSON: param.Const}
	case sent == nil && !w.call.Omitted[key]:
		assert.Fail(w.t, "no field", "%s has no field for %s", w.c.Options, param.Wire)
	}
	return sent
}

// flatParams lists parameters, the keys of a hash one by one, without the parameters that the core
// sends.
func flatParams(params []catalogue.Param) []catalogue.Param {
	return catalogue.Endpoint{Query: params}.Params()
}

// refused returns the parameter that the checks refuse; empty for none.
func (c *conformanceCase) refused(t *testing.T, f *cases.Filled) string {
	t.Helper()
	if !f.Value.IsValid() {
		return ""
	}
	err := c.Check(t, f)
	if err == nil {
		return ""
	}
	var invalid *forge.ValidationError
	require.ErrorAs(t, err, &invalid)
	require.NotEmpty(t, invalid.Param, err)
	return cases.NameKey(invalid.Param)
}
