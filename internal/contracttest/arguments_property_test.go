package contracttest_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

// TestArguments checks a property of all arguments: the request contains exactly the value of the
// caller, or nothing is sent. It sets each field of each options type and each argument of each
// method to zero, nil, empty, negative, blank, doubled and huge values in turn, and compares the
// request with the request without the value.
func TestArguments(t *testing.T) {
	racetest.SkipSequential(t)
	p := &argumentProperty{badInput: newBadInput(t)}
	methods := map[string]bool{}
	for _, m := range p.methods(t) {
		if strings.Contains(m.name, "Wait") || strings.Contains(m.name, "Preview") || strings.HasPrefix(m.name, "Settings.") && m.name != "Settings.Update" {
			continue // they consist of other calls; TestZeroRequestsOnBadInput tests their refusals
		}
		t.Run(m.name, func(t *testing.T) {
			p.t, p.badInput.t = t, t
			for i := 2; i < len(m.in); i++ {
				kind := m.method.Type().In(i)
				switch {
				case kind == reflect.TypeFor[forge.IntegrationOptions]():
					for _, row := range cases.Kinds {
						options := reflect.TypeOf(row.Options())
						p.options(m, i, p.leastOptions(options))
					}
				case kind.Kind() == reflect.Pointer && kind != reflect.TypeFor[*forge.SecureFile]():
					p.options(m, i, m.in[i])
				default:
					p.argument(m, i)
				}
			}
		})
		methods[m.name] = true
	}
	assert.GreaterOrEqual(t, len(methods), len(forge.Routes()))
	assert.Greater(t, p.sent, 2000)
	assert.Greater(t, p.refusals, 500)
	t.Logf("%d methods, %d values sent as they are, %d refused", len(methods), p.sent, p.refusals)
}

// argumentProperty counts the values that were sent and refused.
type argumentProperty struct {
	*badInput
	t              *testing.T
	sent, refusals int
}

// saidRequest is a request as a server parses it.
type saidRequest struct {
	path    string // escaped
	values  url.Values
	members map[string]any
}

// request calls the method on a new client and returns its last request; nil if the client refuses
// the call.
func (p *argumentProperty) request(m *badMethod, in []reflect.Value) (sent *saidRequest) {
	p.t.Helper()
	transport := memory(func(req *http.Request) (*http.Response, error) {
		answer := jsonResponse(http.StatusNotFound, "{}")
		if strings.HasPrefix(req.URL.Path, "/auth/") && m.name != "RegistryNative.GetToken" {
			answer.StatusCode, answer.Body = http.StatusOK, io.NopCloser(strings.NewReader(`{"token":"registry-token"}`))
			return answer, nil
		}
		sent = readSaid(p.t, req)
		return answer, nil
	})
	const base = "https://forge.example.com"
	client, err := forge.NewClient(base, forge.WithToken("t"), forge.WithRegistry(base+"/registry", base+"/auth"),
		forge.WithRegistryCredentials(cases.User, "password"), forge.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(p.t, err)
	in = slices.Clone(in)
	in[0] = reflect.ValueOf(catalogue.Service(client, m.method.Type().In(0)))
	err = cases.Consume(m.method.CallSlice(append(in, reflect.ValueOf([]forge.RequestOption(nil)))))
	if invalid := (*forge.ValidationError)(nil); sent == nil && !assert.ErrorAs(p.t, err, &invalid) {
		return nil
	}
	return sent
}

func readSaid(t *testing.T, req *http.Request) *saidRequest {
	t.Helper()
	s := &saidRequest{path: req.URL.EscapedPath(), values: req.URL.Query()}
	if req.Body == nil {
		return s
	}
	media, params, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	require.NoError(t, err)
	if media == "multipart/form-data" {
		form, err := multipart.NewReader(req.Body, params["boundary"]).ReadForm(1 << 20)
		require.NoError(t, err)
		s.values = form.Value
		return s
	}
	body, err := io.ReadAll(req.Body)
	require.NoError(t, err)
	if media == "application/json" {
		s.members = sentMembers(t, body)
	} else if s.values, err = url.ParseQuery(string(body)); err != nil {
		require.NoError(t, err)
	}
	return s
}

func sentMembers(t *testing.T, body []byte) (members map[string]any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	require.NoError(t, d.Decode(&members))
	return members
}

// options tests each field of the options, including the fields of Not.
func (p *argumentProperty) options(m *badMethod, i int, least reflect.Value) {
	for field := range least.Type().Elem().Fields() {
		if !field.IsExported() || field.Type == reflect.TypeFor[forge.File]() {
			continue // TestCallersCode tests files
		}
		base := p.base(least.Elem(), field.Index)
		try := func(inner reflect.StructField, prefix string, value, options reflect.Value) {
			in := slices.Clone(m.in)
			in[i] = copied(base, field.Index, reflect.Zero(field.Type))
			if in[i].Elem().IsZero() || cases.Check(p.t, in[i].Interface()) != nil {
				in[i] = copied(base, nil, base) // the field is required
			}
			without := p.request(m, in)
			in[i] = options
			p.field(m, inner, prefix, value, p.request(m, in), without)
		}
		for _, value := range argumentValues(field.Type) {
			try(field, "", value, copied(base, field.Index, value))
		}
		if field.Type.Kind() != reflect.Pointer || field.Tag.Get("url") == "" || field.Type.Elem().Kind() != reflect.Struct {
			continue
		}
		outer, _, _ := strings.Cut(field.Tag.Get("url"), ",")
		for inner := range field.Type.Elem().Fields() {
			for _, value := range argumentValues(inner.Type) {
				not := reflect.New(field.Type.Elem())
				not.Elem().FieldByIndex(inner.Index).Set(value)
				try(inner, outer, value, copied(base, field.Index, not))
			}
		}
	}
}

// field compares a request that has the value in the field with a request that does not.
func (p *argumentProperty) field(m *badMethod, field reflect.StructField, outer string, value reflect.Value, with, without *saidRequest) {
	p.t.Helper()
	what := fmt.Sprintf("%s %s %s = %.80s", m.name, outer, field.Name, fmt.Sprintf("%#v", value))
	if with == nil {
		p.refusals++
		return
	}
	p.sent++
	if at, is := value.Interface().(time.Time); is && at.IsZero() {
		value = reflect.Zero(field.Type) // the zero time in any zone
	} else if year := at.UTC().Year(); is {
		assert.True(p.t, year >= 0 && year <= 9999, "%s: the wire has no form for it", what)
	}
	query, body := field.Tag.Get("url"), field.Tag.Get("json")
	name, _, _ := strings.Cut(cmp.Or(query, body), ",")
	switch {
	case field.Name == "Format" || field.Name == "Slug": // sent in the path
		assert.Contains(p.t, with.path, url.PathEscape(value.String()), what)
		return
	case field.Name == "ManifestType": // sent in a header
		return
	case query != "":
		if outer != "" {
			name = outer + "[" + name + "]"
		}
		p.values(what, name, saidTexts(field, value), with, without)
	default:
		p.members(what, name, value, with, without)
	}
	if without != nil {
		assert.Equal(p.t, without.path, with.path, what)
	}
}

// values compares a query or a form: the parameter has the value, and all other parameters are
// unchanged.
func (p *argumentProperty) values(what, name string, want url.Values, with, without *saidRequest) {
	p.t.Helper()
	have, rest := url.Values{}, url.Values{}
	for key, texts := range with.values {
		switch first, _, _ := strings.Cut(key, "["); {
		case key == name || key == name+"[]" || first == name:
			have[key] = texts
		case key != "order_by" && key != "sort" && key != "pagination": // set by the library for keyset pagination
			rest[key] = texts
		}
	}
	if len(want) == 0 && (name == "sort" || name == "order_by" || without != nil && without.values.Has(name)) {
		return // a default
	}
	renamed := url.Values{}
	for suffix, texts := range want {
		renamed[name+suffix] = texts
	}
	assert.Equal(p.t, renamed, have, what)
	if without == nil {
		return
	}
	for key := range without.values {
		if first, _, _ := strings.Cut(key, "["); key == name || key == name+"[]" || first == name || key == "order_by" || key == "sort" || key == "pagination" {
			delete(without.values, key)
		}
	}
	delete(rest, "paused") // Pause sends it if the caller does not set it
	delete(without.values, "paused")
	assert.Equal(p.t, without.values, rest, what)
}

// members compares a JSON body: the key has the value, and all other keys are unchanged.
func (p *argumentProperty) members(what, name string, value reflect.Value, with, without *saidRequest) {
	p.t.Helper()
	want := map[string]any{}
	if without != nil {
		maps.Copy(want, without.members)
	}
	switch {
	case name == "-": // Extra
		maps.Copy(want, saidMembers(p.t, value.Interface()))
	case !value.IsZero():
		want[name] = saidMembers(p.t, map[string]any{"": value.Interface()})[""]
	case without == nil || name == "body":
		return
	}
	assert.Equal(p.t, want, with.members, what)
	assert.NotContains(p.t, fmt.Sprint(with.members), "\ufffd", "%s: the text was changed", what)
}

// saidMembers returns values as JSON has them; times and durations are in the form of the contract.
func saidMembers(t *testing.T, said any) map[string]any {
	t.Helper()
	values, _ := said.(map[string]any)
	said = maps.Clone(values)
	for name, value := range values {
		switch value := value.(type) {
		case time.Time:
			said.(map[string]any)[name] = value.UTC().Format("2006-01-02T15:04:05.000Z")
		case forge.Nullable[time.Duration]:
			if d, set := value.Get(); set {
				said.(map[string]any)[name] = d.Seconds()
			}
		}
	}
	text, err := json.Marshal(said)
	require.NoError(t, err)
	members := sentMembers(t, text)
	return members
}

// saidTexts returns the texts of a value in a query, by the suffix of the parameter's name; nothing
// for a value that is not set.
func saidTexts(field reflect.StructField, value reflect.Value) url.Values {
	one := func(text string) url.Values { return url.Values{"": {text}} }
	brackets := ""
	if strings.Contains(field.Tag.Get("url"), "brackets") {
		brackets = "[]"
	}
	if value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	if !value.IsValid() || value.IsZero() && field.Type.Kind() != reflect.Interface {
		return url.Values{}
	}
	switch v := value.Interface().(type) {
	case time.Time:
		layout := cmp.Or(field.Tag.Get("layout"), "2006-01-02T15:04:05.000Z")
		if said := v.UTC().Format(layout); !strings.Contains(field.Tag.Get("url"), "_before") || v.Nanosecond() == 0 || v.Nanosecond()%1e6 == 0 && strings.Contains(layout, ".000") {
			return one(said)
		}
		return one(v.UTC().Add(time.Second).Truncate(time.Second).Format(layout)) // rounded up to the next second
	case forge.Hash:
		said := url.Values{}
		for name, text := range v {
			said["["+name+"]"] = []string{text}
		}
		return said
	case forge.IDList:
		texts := []string{}
		for _, id := range v {
			texts = append(texts, fmt.Sprint(id))
		}
		return url.Values{"[]": texts}
	case forge.LabelNames:
		return one(strings.Join(v, ","))
	}
	switch value.Kind() {
	case reflect.Slice:
		texts := []string{}
		for i := range value.Len() {
			texts = append(texts, fmt.Sprint(value.Index(i).Interface()))
		}
		return url.Values{brackets: texts}
	case reflect.Pointer:
		if value.Elem().Kind() == reflect.Struct {
			return url.Values{} // an empty Not
		}
		return one(fmt.Sprint(value.Elem().Interface()))
	}
	return one(fmt.Sprint(value.Interface()))
}

// argumentValues returns the values that are tested in a field of the type.
func argumentValues(kind reflect.Type) (values []reflect.Value) {
	values = append(values, reflect.Zero(kind))
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, value := range []any{
		forge.None, forge.Any, forge.Upcoming, forge.Started, forge.ID(7), forge.ID(0), forge.ID(-1), forge.ID(math.MaxInt64), forge.IDs(), forge.IDs(7, 7), forge.IDs(0), forge.IDs(math.MaxInt64), forge.Number(0), forge.Number(-1), forge.Number(math.MaxInt64),
		new(forge.Number(0)), new(forge.Number(-1)), forge.Text(""), forge.Text(" "), forge.Text("x"), forge.Text("None"), forge.Text("any"), forge.Labels(), forge.Labels(""), forge.Labels("a", "a"), forge.Labels("a,b"), forge.Labels("None"), forge.Labels("NO LABEL"),
		[]int64{}, []int64{7, 7}, []int64{0}, []int64{-1}, []int64{math.MaxInt64}, []string{}, []string{""}, []string{"a", "a"}, []string{" "}, []string{"a,b"}, []string{"a", "\xff"},
		int64(-1), int64(7), int64(math.MaxInt64), int64(math.MinInt64), -1, 7, math.MaxInt, new(0), new(-1), new(math.MaxInt), true, new(true), new(false),
		new(""), new(" "), new("x"), new("\xff"), forge.Null[string](), forge.Value(""), forge.Value("x"), forge.Value("\xff"), forge.Null[time.Duration](), forge.Value(time.Hour), forge.Value(time.Duration(0)), forge.Value(-time.Second),
		forge.Value(time.Duration(math.MaxInt64)), forge.Value(time.Millisecond), forge.Hash{}, forge.Hash{"a": "b", "c": ""}, forge.Hash{"": "x"}, forge.Hash{"a[b]": "x"}, at, at.Add(123 * time.Millisecond).In(time.FixedZone("", 53*60+28)),
		time.Time{}.In(time.FixedZone("", 3600)), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		forge.WorkDuration(time.Second), forge.WorkDuration(-time.Hour), forge.WorkDuration(1), forge.WorkDuration(math.MaxInt64), forge.WorkDuration(math.MinInt64),
		forge.Age("1d"), forge.Age("0d"), forge.Age("-1d"), forge.Age("9223372036854775807h"), forge.Age("1 fortnight"), forge.Age(" "), []forge.RegistryScope{}, []forge.RegistryScope{""}, []forge.RegistryScope{forge.RegistryScope(" ")},
		map[string]any{}, map[string]any{"x": nil}, map[string]any{"x": "\xff"}, map[string]any{"x": at}, map[string]any{"x": []any{}, "y": []int{1, 1}, "z": math.MaxInt64}, map[string]any{"x": func() {}},
	} {
		if cases.Fits(value, kind) {
			values = append(values, reflect.ValueOf(value))
		}
	}
	if kind.Kind() == reflect.String && kind != reflect.TypeFor[forge.Text]() && kind != reflect.TypeFor[forge.Age]() {
		for _, text := range []string{" ", "\t\n", "x", "a,b&c=d+e", "..", "None", "\xff", "\x00", "/promote\nx", strings.Repeat("a", 5000)} {
			values = append(values, reflect.ValueOf(text).Convert(kind))
		}
	}
	if kind.Kind() == reflect.Pointer && kind.Elem().Kind() == reflect.Struct {
		values = append(values, reflect.New(kind.Elem()))
	}
	return values
}

// argument tests an argument: the value is one segment of the path, or nothing is sent.
func (p *argumentProperty) argument(m *badMethod, i int) {
	p.t.Helper()
	before := strings.Split(p.request(m, m.in).path, "/")
	for _, value := range positionalValues(m.method.Type().In(i)) {
		in := slices.Clone(m.in)
		in[i] = value
		what := fmt.Sprintf("%s, argument %d = %.60q", m.name, i-1, fmt.Sprint(value))
		with := p.request(m, in)
		if with == nil {
			p.refusals++
			continue
		}
		p.sent++
		after := strings.Split(with.path, "/")
		if strings.HasPrefix(m.name, "RegistryNative") && i == 2 { // the argument is a path of several segments
			text, err := url.PathUnescape(with.path)
			require.NoError(p.t, err, what)
			assert.Contains(p.t, text, "/"+value.String()+"/", what)
			continue
		}
		if !assert.Len(p.t, after, len(before), what) {
			continue
		}
		changed := []string{}
		for j := range after {
			if after[j] != before[j] {
				text, err := url.PathUnescape(after[j])
				require.NoError(p.t, err, what)
				changed = append(changed, text)
			}
		}
		assert.Equal(p.t, []string{saidSegment(value)}, changed, what)
	}
}

func saidSegment(value reflect.Value) string {
	switch v := value.Interface().(type) {
	case forge.ID:
		return strconv.FormatInt(int64(v), 10)
	case *forge.SecureFile:
		return strconv.FormatInt(v.ID, 10)
	}
	return fmt.Sprint(value.Interface())
}

// positionalValues returns the values that are tested as an argument of the type.
func positionalValues(kind reflect.Type) []reflect.Value {
	values := badArgumentValues(kind)
	texts := []string{"main", "a b", "a+b", "ü", "a/b", "None", "0", "-1", strings.Repeat("a", 2<<10)}
	switch {
	case kind == reflect.TypeFor[forge.Ref]():
		values = append(values, valuesOf(forge.ID(98765), forge.ID(math.MaxInt64))...)
		for _, text := range texts {
			values = append(values, reflect.ValueOf(forge.Path(text)))
		}
	case kind == reflect.TypeFor[forge.IntegrationName]():
		for _, text := range slices.Concat(catalogue.BadSegments, texts) {
			values = append(values, reflect.ValueOf(forge.IntegrationSlug(text)))
		}
	case kind == reflect.TypeFor[*forge.SecureFile]():
		values = append(values, reflect.ValueOf(&forge.SecureFile{ID: math.MaxInt64}))
	case kind.Kind() == reflect.Int64:
		values = append(values, valuesOf(int64(98765), int64(math.MaxInt64))...)
	case kind.Kind() == reflect.String:
		for _, text := range texts {
			values = append(values, reflect.ValueOf(text).Convert(kind))
		}
	}
	return values
}
