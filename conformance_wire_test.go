package forge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wireForm compares a request with the catalogue.
type wireForm struct {
	t    *testing.T
	c    *conformanceCase
	call conformanceCall
}

// paging compares the parameters of pagination, and takes them out.
func (w wireForm) paging(query url.Values, number int) {
	e := w.c.endpoint
	size := "per_page"
	if e.ID == "registry_native.catalog" {
		size = "n" // the registry's own; the contract is silent
	}
	want, have := url.Values{size: {strconv.Itoa(conformancePerPage)}}, url.Values{}
	if e.Pagination.Keyset {
		want.Set("pagination", "keyset")
		if order := e.Pagination.Order; order != nil && w.call.sent["orderby"] == nil {
			want["order_by"] = []string{firstAmong(query.Get("order_by"), order.OrderBy)}
			want["sort"] = []string{firstAmong(query.Get("sort"), order.Sort)}
		} else if order != nil && !slices.Contains(order.OrderBy, w.call.sent["orderby"].texts[0]) {
			want.Del("pagination")
		}
	}
	if number > 0 {
		want.Set("page", strconv.Itoa(number+1))
	}
	for name := range query {
		if slices.Contains(ownParams, name) || want.Has(name) {
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

// note counts a parameter that has arrived.
func (w wireForm) note(wire string) {
	documented := slices.ContainsFunc(w.c.endpoint.all(), func(p catalogueParam) bool { return p.Wire == wire })
	if documented && !w.call.unchecked {
		w.c.arrived[wire] = true
	}
}

// body compares the body, in one of the encodings of the catalogue.
func (w wireForm) body(r *contractRequest) {
	w.t.Helper()
	if len(w.c.endpoint.Body) == 0 {
		assert.Empty(w.t, string(r.body), "body")
		return
	}
	media, params, err := mime.ParseMediaType(r.header.Get("Content-Type"))
	require.NoError(w.t, err)
	encoding := map[string]string{"application/json": "json", "application/x-www-form-urlencoded": "form", "multipart/form-data": "multipart"}[media]
	for _, param := range w.c.endpoint.Body {
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
		w.compare(values, w.c.endpoint.Body)
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
		w.compare(values, w.c.endpoint.Body)
	}
}

// compare compares a query or a form.
func (w wireForm) compare(values url.Values, params []catalogueParam) {
	w.t.Helper()
	rest := maps.Clone(values)
	for _, param := range flatParams(params) {
		sent := w.sent(param)
		if sent == nil {
			continue
		}
		wire := strings.Replace(param.Wire, "<key>", sentKey, 1)
		if assert.Equal(w.t, sent.texts, values[wire], "values of %s", wire) {
			w.note(param.Wire)
		}
		delete(rest, wire)
	}
	for wire, have := range rest {
		assert.True(w.t, w.c.known[wire], "%s is invented", wire)
		if sent := w.call.sent[nameKey(wire)]; assert.NotNil(w.t, sent, wire) {
			assert.Equal(w.t, sent.texts, have, wire)
		}
	}
}

// members compares a JSON object.
func (w wireForm) members(members map[string]any) {
	w.t.Helper()
	rest := maps.Clone(members)
	for _, param := range w.c.endpoint.Body {
		sent := w.sent(param)
		if sent == nil {
			continue
		}
		if assert.Equal(w.t, sent.json, members[param.Name], "value of %s", param.Name) {
			w.note(param.Wire)
		}
		delete(rest, param.Name)
	}
	for name, have := range rest {
		assert.True(w.t, w.c.known[name], "%s is invented", name)
		if sent := w.call.sent[nameKey(name)]; assert.NotNil(w.t, sent, name) {
			assert.Equal(w.t, sent.json, have, name)
		}
	}
}

// sent is what must arrive of a parameter; nil where the call leaves it out.
func (w wireForm) sent(param catalogueParam) *sentValue {
	w.t.Helper()
	key := nameKey(param.Wire)
	sent := w.call.sent[key]
	switch {
	case param.Const != "":
		return &sentValue{texts: []string{param.Const}, json: param.Const}
	case sent == nil && !w.call.left[key]:
		assert.Fail(w.t, "no field", "%s has no field for %s", w.c.options, param.Wire)
	}
	return sent
}

// flatParams lists parameters, those of a hash one by one, without those that the core sends.
func flatParams(params []catalogueParam) []catalogueParam {
	return catalogueEndpoint{Query: params}.params()
}

// filledOptions are options with a distinct value in every field.
type filledOptions struct {
	value reflect.Value // the struct; none where the method takes no options
	sent  map[string]*sentValue
	left  map[string]bool
}

// sentValue is what a field must become on the wire.
type sentValue struct {
	texts []string // in a query or form
	json  any
}

const sentKey = "a key" // of every hash

// fill sets the fields but those left out. In each round the booleans are others.
func (c *conformanceCase) fill(t *testing.T, round int, left map[string]bool) *filledOptions {
	t.Helper()
	f := &filledOptions{sent: map[string]*sentValue{}, left: left}
	if c.options != nil {
		enums, fixed := map[string][]any{}, map[string]bool{}
		for _, param := range slices.Concat(c.endpoint.PathParams, c.endpoint.params()) {
			enums[nameKey(param.Wire)] = param.Enum
			enums[nameKey(param.Name)] = param.Enum
			fixed[nameKey(param.Wire)] = strings.HasSuffix(param.Format, ":SSZ")
		}
		number := 0
		f.value = reflect.New(c.options).Elem()
		f.fill(t, f.value, "", func(key string, kind reflect.Type) (reflect.Value, *sentValue) {
			number++
			if left[key] || c.foreign[key] {
				return reflect.Zero(kind), nil
			}
			value, sent := sampleSent(t, key, kind, number, number>>round&1 == 1, enums[key])
			if fixed[key] {
				sent.texts[0] = strings.Replace(sent.texts[0], ".000Z", "Z", 1)
			}
			return value, sent
		})
	}
	return f
}

// fill sets the fields of a struct. Extra and Params are no parameters of the contract, Slug is in the path, and without ManifestType the
// word of the vocabulary is asked for.
func (f *filledOptions) fill(t *testing.T, options reflect.Value, prefix string, sample func(key string, kind reflect.Type) (reflect.Value, *sentValue)) {
	t.Helper()
	for field, value := range options.Fields() {
		if !field.IsExported() || slices.Contains([]string{"Extra", "Params", "Slug", "ManifestType"}, field.Name) {
			continue
		}
		key := prefix + nameKey(field.Name)
		if field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct {
			inner := reflect.New(field.Type.Elem())
			f.fill(t, inner.Elem(), key+".", sample)
			value.Set(inner)
			continue
		}
		filled, sent := sample(key, field.Type)
		if value.Set(filled); sent != nil {
			f.sent[key] = sent
		}
	}
}

func (f *filledOptions) keys() map[string]bool {
	keys := map[string]bool{}
	for key := range f.sent {
		keys[key] = true
	}
	return keys
}

// refused gives the parameter that the checks refuse, "" for none.
func (f *filledOptions) refused(t *testing.T) string {
	t.Helper()
	if !f.value.IsValid() {
		return ""
	}
	err := checkOptions(f.value.Addr().Interface())
	if err == nil {
		return ""
	}
	var invalid *ValidationError
	require.ErrorAs(t, err, &invalid)
	require.NotEmpty(t, invalid.Param, err)
	return nameKey(invalid.Param)
}

var (
	placeholderPrefix = regexp.MustCompile(`^<\w+>_`)
	wireMarks         = strings.NewReplacer("[<key>]", "", "["+sentKey+"]", "", "[]", "", "[", ".", "]", "", "_", "")
	otherNames        = strings.NewReplacer("plantuml", "diagrama", "diagramsnet", "diagramb", "kroki", "diagramc", "jiraconnect", "issuetrackerconnect",
		"containerregistryaccesslevel", "visibility", "scopes", "scope")
)

// nameKey makes one of the names of a parameter on the wire and in Go: not[author_id], or not. and AuthorID.
func nameKey(name string) string {
	if strings.HasPrefix(name, "<") {
		name = placeholderPrefix.ReplaceAllString(name, "")
	}
	return otherNames.Replace(strings.ToLower(wireMarks.Replace(name)))
}

// sampleSent is a value with the number in it, and what must become of it on the wire.
func sampleSent(t *testing.T, key string, kind reflect.Type, n int, truth bool, enum []any) (reflect.Value, *sentValue) {
	t.Helper()
	text := fmt.Sprintf("v%d +&é/x", n) // a pattern too
	day, layout := time.Date(2026, 1, 2, 3, n, n%60, 0, time.UTC), "2006-01-02T15:04:05.000Z"
	number := strconv.Itoa(n)
	one := func(value any, text string, json any) (reflect.Value, *sentValue) {
		return reflect.ValueOf(value), &sentValue{[]string{text}, json}
	}
	for _, value := range []any{ID(n), Number(n), new(Number(n)), n, int64(n), new(n), Value(n)} {
		if fits(value, kind) {
			return one(value, number, float64(n))
		}
	}
	for _, value := range []any{Text(text), new(text), Value(text)} {
		if fits(value, kind) {
			return one(value, text, text)
		}
	}
	for _, value := range []any{IDs(int64(n), 1000), []int64{int64(n), 1000}} {
		if fits(value, kind) {
			return reflect.ValueOf(value), &sentValue{[]string{number, "1000"}, []any{float64(n), 1000.0}}
		}
	}
	switch {
	case fits(new(truth), kind):
		return one(new(truth), strconv.FormatBool(truth), truth)
	case kind == reflect.TypeFor[bool](): // of which the contract has one value
		return one(true, "true", true)
	case fits(Null[time.Duration](), kind):
		return one(Value(time.Duration(n)*time.Second), number, float64(n))
	case fits(Started, kind):
		return one(Started, "Started", "Started")
	case fits(day, kind):
		return one(day, day.Format(layout), day.Format(layout))
	case fits([]string{}, kind):
		return reflect.ValueOf([]string{text, "a,b"}), &sentValue{[]string{text, "a,b"}, []any{text, "a,b"}}
	case fits([]RunnerRegistrar{}, kind):
		return reflect.ValueOf([]RunnerRegistrar{RunnerRegistrar(text), RunnerRegistrarGroup}), &sentValue{[]string{text, "group"}, []any{text, "group"}}
	case fits(Labels(), kind):
		return one(Labels(text, "b"), text+",b", nil)
	case fits(Hash{}, kind):
		return one(Hash{sentKey: text}, text, nil)
	case fits(map[string]any{}, kind):
		return one(map[string]any{sentKey: n}, "", map[string]any{sentKey: float64(n)})
	case fits(WorkDuration(0), kind):
		return one(WorkDuration(n)*WorkDuration(time.Hour), number+"h", number+"h")
	case fits(Days(n), kind):
		return one(Days(n), number+"d", number+"d")
	case fits([]RegistryScope{}, kind):
		return one([]RegistryScope{RepositoryScope("group/app", RegistryPull)}, "repository:group/app:pull", nil)
	case fits(File{}, kind):
		file, sent := conformanceFile()
		return reflect.ValueOf(file), sent
	}
	require.Equal(t, reflect.String, kind.Kind(), "no sample of %s: add one", kind)
	switch {
	case len(enum) > 0:
		text = enum[n%len(enum)].(string)
	case key == "body": // of a note that promotes
		text = "/promote"
	}
	return one(reflect.ValueOf(text).Convert(kind).Interface(), text, text)
}

// fits reports whether a value is of the type, or of the interface.
func fits(value any, kind reflect.Type) bool {
	own := reflect.TypeOf(value)
	return own == kind || kind.Kind() == reflect.Interface && own.Implements(kind)
}

func conformanceFile() (File, *sentValue) {
	return FileBytes([]byte(conformanceContent)).Named("a file.p12"), &sentValue{texts: []string{"a file.p12:" + conformanceContent}}
}
