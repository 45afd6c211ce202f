package cases

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// Filled are options with a distinct value in every field.
type Filled struct {
	Value   reflect.Value // the struct; invalid if the method takes no options
	Sent    map[string]*Sent
	Omitted map[string]bool
}

// Sent is the expected wire form of a field.
type Sent struct {
	Texts []string // in a query or form
	JSON  any
}

const HashKey = "a key" // key of every hash

// Fill sets all fields except those in left. Each round sets other booleans.
func (c *Case) Fill(t *testing.T, round int, left map[string]bool) *Filled {
	t.Helper()
	f := &Filled{Sent: map[string]*Sent{}, Omitted: left}
	if c.Options != nil {
		enums, fixed := map[string][]any{}, map[string]bool{}
		for _, param := range slices.Concat(c.Endpoint.PathParams, c.Endpoint.Params()) {
			enums[NameKey(param.Wire)] = param.Enum
			enums[NameKey(param.Name)] = param.Enum
			fixed[NameKey(param.Wire)] = strings.HasSuffix(param.Format, ":SSZ")
		}
		number := 0
		f.Value = reflect.New(c.Options).Elem()
		f.fill(t, f.Value, "", func(key string, kind reflect.Type) (reflect.Value, *Sent) {
			number++
			if left[key] || c.Foreign[key] {
				return reflect.Zero(kind), nil
			}
			value, sent := sampleSent(t, key, kind, number, number>>round&1 == 1, enums[key])
			if fixed[key] {
				sent.Texts[0] = strings.Replace(sent.Texts[0], ".000Z", "Z", 1)
			}
			return value, sent
		})
	}
	return f
}

// fill sets the fields of a struct except four: Extra and Params are not parameters of the
// contract, Slug is in the path, and an empty ManifestType selects GitLab's.
func (f *Filled) fill(t *testing.T, options reflect.Value, prefix string, sample func(key string, kind reflect.Type) (reflect.Value, *Sent)) {
	t.Helper()
	for field, value := range options.Fields() {
		if !field.IsExported() || field.Anonymous || slices.Contains([]string{"Extra", "Params", "Slug", "ManifestType"}, field.Name) {
			continue
		}
		key := prefix + NameKey(field.Name)
		if field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct {
			inner := reflect.New(field.Type.Elem())
			f.fill(t, inner.Elem(), key+".", sample)
			value.Set(inner)
			continue
		}
		filled, sent := sample(key, field.Type)
		if value.Set(filled); sent != nil {
			f.Sent[key] = sent
		}
	}
}

// Keys returns the keys of the fields that are set.
func (f *Filled) Keys() map[string]bool {
	keys := map[string]bool{}
	for key := range f.Sent {
		keys[key] = true
	}
	return keys
}

var (
	wireMarks  = strings.NewReplacer("[<key>]", "", "["+HashKey+"]", "", "[]", "", "[", ".", "]", "", "_", "")
	otherNames = strings.NewReplacer("containerregistryaccesslevel", "visibility", "scopes", "scope", "datadogcivisibility", "civisibility")
)

// NameKey returns the same key for the wire name and the Go name of a parameter: not[author_id], or
// not. and AuthorID.
func NameKey(name string) string {
	if key, known := nameKeys.Load(name); known {
		return key.(string)
	}
	key := plainKey(name)
	key = cmp.Or(goKeys()[key], key)
	nameKeys.Store(name, key)
	return key
}

func plainKey(name string) string {
	return otherNames.Replace(strings.ToLower(wireMarks.Replace(name)))
}

// goKeys has the keys of Go names by those of wire names that differ.
var goKeys = sync.OnceValue(func() map[string]string {
	keys := map[string]string{}
	for _, r := range catalogue.SettingRows() {
		for _, word := range []string{r.Neutral(), r.GitLab} {
			if word != "" {
				keys[plainKey(word)] = plainKey(r.Go)
			}
		}
	}
	for _, kind := range catalogue.IntegrationWords() {
		for placeholder, word := range kind {
			if _, name, is := strings.Cut(placeholder, ">_"); is {
				keys[plainKey(word)] = plainKey(name)
			}
		}
	}
	return keys
})

// nameKeys are the results of NameKey.
var nameKeys sync.Map

// sampleSent returns a value that contains the number, and its expected wire form.
func sampleSent(t *testing.T, key string, kind reflect.Type, n int, truth bool, enum []any) (reflect.Value, *Sent) {
	t.Helper()
	text := fmt.Sprintf("v%d +&é/x", n) // also a valid pattern
	for _, s := range samples(n, text, truth) {
		if Fits(s.value, kind) {
			return reflect.ValueOf(s.value), &s.sent
		}
	}
	require.Equal(t, reflect.String, kind.Kind(), "no sample of %s: add one", kind)
	switch {
	case len(enum) > 0:
		text = enum[n%len(enum)].(string)
	case key == "body": // the text of a note that promotes an issue
		text = "/promote"
	}
	return reflect.ValueOf(text).Convert(kind), &Sent{[]string{text}, text}
}

// sampled is a value and its wire form.
type sampled struct {
	value any
	sent  Sent
}

// samples returns values of all types except string types. If several fit a type, the first is
// used.
func samples(n int, text string, truth bool) (all []sampled) {
	add := func(json any, sent string, values ...any) {
		for _, value := range values {
			all = append(all, sampled{value, Sent{[]string{sent}, json}})
		}
	}
	list := func(json []any, sent []string, values ...any) {
		for _, value := range values {
			all = append(all, sampled{value, Sent{sent, json}})
		}
	}
	number, decimal := float64(n), strconv.Itoa(n)
	day := time.Date(2026, 1, 2, 3, n, n%60, 0, time.UTC)
	date := day.Format("2006-01-02T15:04:05.000Z")
	add(number, decimal, forge.ID(n), forge.Number(n), new(forge.Number(n)), n, int64(n), new(n), forge.Value(n))
	add(text, text, forge.Text(text), new(text), forge.Value(text))
	list([]any{number, 1000.0}, []string{decimal, "1000"}, forge.IDs(int64(n), 1000), []int64{int64(n), 1000})
	add(truth, strconv.FormatBool(truth), new(truth))
	add(true, "true", true) // the contract allows one value of such a parameter
	add(number, decimal, forge.Value(time.Duration(n)*time.Second))
	add("Started", "Started", forge.Started)
	add(date, date, day)
	list([]any{text, "a,b"}, []string{text, "a,b"}, []string{text, "a,b"})
	list([]any{text, "group"}, []string{text, "group"}, []forge.RunnerRegistrar{forge.RunnerRegistrar(text), forge.RunnerRegistrarGroup})
	add(nil, text+",b", forge.Labels(text, "b"))
	add(nil, text, forge.Hash{HashKey: text})
	add(map[string]any{HashKey: number}, "", map[string]any{HashKey: n})
	add(map[string]any{HashKey: truth}, "", map[string]bool{HashKey: truth})
	list([]any{map[string]any{"name": text, "ssh_url_template": "s", "http_url_template": "h"}}, nil, []forge.CodeDropdownClient{{Name: text, SSHURLTemplate: "s", HTTPURLTemplate: "h"}})
	list([]any{map[string]any{"alias_name": text, "number_of_shards": number, "number_of_replicas": 0.0}}, nil, []forge.ElasticsearchIndexSettings{{AliasName: text, NumberOfShards: new(n), NumberOfReplicas: new(0)}})
	add(date, date, forge.Value(day))
	add(decimal+"h", decimal+"h", forge.WorkDuration(n)*forge.WorkDuration(time.Hour))
	add(decimal+"d", decimal+"d", forge.Age(strconv.Itoa(n)+"d"))
	add(nil, "repository:group/app:pull", []forge.RegistryScope{forge.RepositoryScope("group/app", forge.RegistryActionPull)})
	file, sent := sampleFile()
	return append(all, sampled{file, *sent})
}

// Fits reports whether a value is of the type, or of the interface.
func Fits(value any, kind reflect.Type) bool {
	own := reflect.TypeOf(value)
	return own == kind || kind.Kind() == reflect.Interface && own.Implements(kind)
}

func sampleFile() (forge.File, *Sent) {
	return forge.FileBytes([]byte(Content)).Named("a file.csv"), &Sent{Texts: []string{"a file.csv:" + Content}}
}

// IsBody reports whether the options are sent as JSON.
func IsBody(options any) bool {
	return options != nil && len(catalogue.JSONFields(reflect.TypeOf(options).Elem())) > 0
}

// ClientParams are parameters that the client sends if the options have no field for them: those of
// lists, a constant of registry tokens, and the file of an upload.
var ClientParams = []string{"page", "per_page", "pagination", "order_by", "sort", "service", "file"}

// WireFields sets every field, encodes the options as a call does, and returns the types of the
// fields by wire name.
func WireFields(t *testing.T, options any) map[string]reflect.Type {
	t.Helper()
	if IsBody(options) {
		return catalogue.JSONFields(reflect.TypeOf(options).Elem())
	}
	full := reflect.New(reflect.TypeOf(options).Elem())
	for i := range full.Elem().NumField() {
		full.Elem().Field(i).Set(Sample(t, full.Elem().Field(i).Type()))
	}
	fields := map[string]reflect.Type{}
	for _, wire := range SentNames(t, full.Interface()) {
		path := catalogue.GoName(full.Type(), wire)
		if path == wire && slices.Contains(ClientParams, wire) {
			continue
		}
		field := full.Elem()
		for name := range strings.SplitSeq(path, ".") {
			if field.Kind() == reflect.Map {
				break // its keys are chosen by the caller
			}
			field = reflect.Indirect(field).FieldByName(name)
			require.True(t, field.IsValid(), "no field sends %s", wire)
		}
		fields[wire] = field.Type()
	}
	return fields
}

// SentNames returns the names of the parameters of a call with the options, in its query or form.
func SentNames(t *testing.T, options any) []string {
	t.Helper()
	var planned forge.PlannedRequest
	require.ErrorIs(t, plan(t, options, forge.SkipValidation(), forge.DryRun(&planned)), forge.ErrDryRun)
	address, err := url.Parse(planned.URL)
	require.NoError(t, err)
	form, err := url.ParseQuery(string(planned.Body))
	require.NoError(t, err)
	names := slices.AppendSeq(slices.Collect(maps.Keys(address.Query())), maps.Keys(form))
	for _, field := range formField.FindAllStringSubmatch(planned.Curl(), -1) {
		names = append(names, field[1])
	}
	return names
}

// formField is a field of an upload as an argument of curl.
var formField = regexp.MustCompile(`--form(?:-string)? '?([^=']+)=`)

// Sample returns a nonzero value that can be encoded.
func Sample(t *testing.T, kind reflect.Type) reflect.Value {
	t.Helper()
	for _, value := range []any{forge.ID(7), forge.IDs(7), forge.Number(7), forge.Started, forge.Text("x"), forge.Labels("x"), time.Unix(1, 0), forge.Age("1d"), forge.Hash{"<key>": "x"}, map[string]any{"x": 1}, forge.FileBytes([]byte("x")), forge.Value("x"), forge.Value(time.Hour)} {
		if v := reflect.ValueOf(value); v.Type() == kind || kind.Kind() == reflect.Interface && v.Type().Implements(kind) {
			return v
		}
	}
	value := reflect.New(kind).Elem()
	switch kind.Kind() {
	case reflect.String:
		value.SetString("x")
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int64:
		value.SetInt(int64(time.Hour))
	case reflect.Slice:
		value = reflect.Append(value, Sample(t, kind.Elem()))
	case reflect.Pointer:
		value = reflect.New(kind.Elem())
		value.Elem().Set(Sample(t, kind.Elem()))
	case reflect.Struct:
		for i := range value.NumField() {
			value.Field(i).Set(Sample(t, value.Field(i).Type()))
		}
	default:
		require.Fail(t, "no sample", "%s: add one", kind)
	}
	return value
}

// SetFields sets the fields of the parameters to sample values.
func SetFields(t *testing.T, options reflect.Value, params ...string) {
	t.Helper()
	for _, param := range params {
		field := options
		for name := range strings.SplitSeq(catalogue.GoName(options.Type(), param), ".") {
			if field.Kind() == reflect.Pointer { // Not
				if field.IsNil() {
					field.Set(reflect.New(field.Type().Elem()))
				}
				field = field.Elem()
			}
			if field.Kind() == reflect.Map { // its keys are chosen by the caller
				break
			}
			field = field.FieldByName(name)
			require.True(t, field.IsValid(), "no field for %s", param)
		}
		field.Set(Sample(t, field.Type()))
	}
}

// Check returns the error of a planned call with the options; nil if they are valid. The call is
// not sent. The parameters that the error names are those of fields.
func Check(t *testing.T, options any) error {
	t.Helper()
	err := planned(t, plan(t, options, forge.DryRun(nil)))
	if invalid := (*forge.ValidationError)(nil); errors.As(err, &invalid) {
		assert.True(t, invalid.Option == "File" || strings.Contains(invalid.Option, "."), "%v: no field sends %s", err, invalid.Param)
		for i, name := range namedParams.FindStringSubmatch(invalid.Reason) {
			field := catalogue.GoName(reflect.TypeOf(options), name)
			assert.True(t, i == 0 || name == "" || token.IsExported(field[strings.LastIndexByte(field, '.')+1:]), "%v: no field sends %s", err, name)
		}
	}
	return err
}

// namedParams are the names in the reason of a rule between parameters.
var namedParams = regexp.MustCompile(`^it (?:cannot be combined with|needs|is deprecated, and) (\S+)(?: is set too: omit (\S+)| as well)?$`)

// Check does the same for a call of the case's own method.
func (c *Case) Check(t *testing.T, f *Filled) error {
	t.Helper()
	client, err := plannedClient()
	require.NoError(t, err)
	in, _ := c.Arguments(t, client, f)
	return planned(t, Consume(c.Method.Call(append(in, reflect.ValueOf(forge.DryRun(nil))))))
}

func planned(t *testing.T, err error) error {
	t.Helper()
	if errors.Is(err, forge.ErrDryRun) {
		return nil
	}
	require.Error(t, err)
	return err
}

// plan plans a call of the first method that takes the options.
func plan(t *testing.T, options any, opts ...forge.RequestOption) error {
	t.Helper()
	client, err := plannedClient()
	require.NoError(t, err)
	own := reflect.TypeOf(options)
	all, err := methods()
	require.NoError(t, err)
	for _, m := range all {
		method, takes := m.function, false
		var in []reflect.Value
		for i := range method.Type().NumIn() - 1 {
			switch kind := method.Type().In(i); {
			case i == 0:
				in = append(in, reflect.ValueOf(catalogue.Service(client, kind)))
			case i == 1:
				in = append(in, reflect.ValueOf(t.Context()))
			case kind == own || kind == reflect.TypeFor[forge.IntegrationOptions]() && own.Implements(kind):
				in, takes = append(in, reflect.ValueOf(options)), true
			case kind == reflect.TypeFor[forge.Ref]():
				in = append(in, reflect.ValueOf(forge.ID(7)))
			case kind.Kind() == reflect.Int64, kind.Kind() == reflect.String:
				in = append(in, Sample(t, kind))
			}
		}
		if takes {
			return Consume(method.CallSlice(append(in, reflect.ValueOf(opts))))
		}
	}
	require.Fail(t, "no method", "%s: no method takes it", own)
	return nil
}

// plannedClient returns a client for calls that are planned only.
var plannedClient = sync.OnceValues(func() (*forge.Client, error) {
	const base = "https://forge.example.com"
	return forge.NewClient(base, forge.WithToken(Token),
		forge.WithRegistry(base+"/registry", base+"/auth"), forge.WithRegistryCredentials(User, "password"))
})
