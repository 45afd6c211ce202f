package contracttest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/contracttest/callresult"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// TestZeroRequestsOnBadInput checks that each method refuses invalid arguments and options with a *ValidationError that names the option and the wire name, and sends nothing.
func TestZeroRequestsOnBadInput(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	b := newBadInput(t)
	methods := b.methods(t)
	require.Greater(t, len(methods), 80, "the methods are not found")
	for _, m := range methods {
		t.Run(m.name, func(t *testing.T) {
			b.t = t
			m.valid(b)
			m.badArguments(b)
			m.badOptions(b)
		})
	}
}

// badInput is a server that counts requests, and a client of this server.
type badInput struct {
	t        *testing.T
	client   *forge.Client
	requests atomic.Int64
	options  map[reflect.Type]reflect.Value // valid options, by the type of the pointer
}

func newBadInput(t *testing.T) *badInput {
	t.Helper()
	b := &badInput{t: t, options: map[reflect.Type]reflect.Value{}}
	b.client = memoryClient(t, b.respond, forge.WithRegistry(registryAddress, authAddress), forge.WithRegistryCredentials(cases.User, "password"))
	for _, c := range conformanceCases(t) {
		if c.Options == nil {
			continue
		}
		for _, call := range c.calls(t, 0) {
			if !call.unchecked {
				b.options[reflect.PointerTo(c.Options)] = call.Value
				break
			}
		}
	}
	return b
}

// respond counts a request. It returns registry tokens, and 404 for everything else.
func (b *badInput) respond(r *http.Request) (*http.Response, error) {
	b.requests.Add(1)
	if strings.HasPrefix(r.URL.Path, "/auth/") {
		return jsonResponse(http.StatusOK, `{"token":"registry-token"}`), nil
	}
	return jsonResponse(http.StatusNotFound, `{"message":"404 Not found"}`), nil
}

// badMethod is a method with valid arguments.
type badMethod struct {
	name   string
	method reflect.Value
	in     []reflect.Value // the receiver first, without request options
	list   bool
}

// methods returns all methods that send a request.
func (b *badInput) methods(t *testing.T) (methods []*badMethod) {
	t.Helper()
	for field := range reflect.TypeFor[forge.Client]().Fields() {
		if !field.IsExported() {
			continue
		}
		for method := range field.Type.Methods() {
			if method.Type.NumIn() < 2 || method.Type.In(1) != reflect.TypeFor[context.Context]() {
				continue
			}
			m := &badMethod{name: field.Name + "." + method.Name, method: method.Func, list: method.Type.Out(0).CanSeq2()}
			m.in = []reflect.Value{reflect.ValueOf(catalogue.Service(b.client, field.Type)), reflect.ValueOf(t.Context())}
			for i := 2; i < method.Type.NumIn()-1; i++ {
				m.in = append(m.in, b.validArgument(method.Type.In(i)))
			}
			methods = append(methods, m)
		}
	}
	return methods
}

func (b *badInput) validArgument(kind reflect.Type) reflect.Value {
	switch kind {
	case reflect.TypeFor[*forge.SecureFile]():
		return reflect.ValueOf(&forge.SecureFile{ID: 7})
	case reflect.TypeFor[forge.File]():
		return reflect.ValueOf(forge.FileBytes([]byte("content")).Named("f"))
	case reflect.TypeFor[forge.IntegrationName]():
		return reflect.ValueOf(forge.IntegrationSlug("jira"))
	case reflect.TypeFor[forge.IntegrationOptions]():
		return reflect.ValueOf(&forge.CustomIntegration{Slug: "jira", Params: map[string]any{"a": 1}})
	}
	if kind.Kind() == reflect.Pointer {
		return b.leastOptions(kind)
	}
	return cases.Sample(b.t, kind)
}

// leastOptions returns valid options with only the required fields.
func (b *badInput) leastOptions(kind reflect.Type) reflect.Value {
	least := reflect.New(kind.Elem())
	full, known := b.options[kind]
	if !known || cases.Check(b.t, least.Interface()) == nil {
		return least
	}
	least.Elem().Set(full)
	for field := range kind.Elem().Fields() {
		if !field.IsExported() {
			continue
		}
		value := least.Elem().FieldByIndex(field.Index)
		before := reflect.New(field.Type).Elem()
		before.Set(value)
		if value.SetZero(); cases.Check(b.t, least.Interface()) != nil {
			value.Set(before)
		}
		if field.Type == reflect.TypeFor[forge.File]() {
			value.Set(b.validArgument(field.Type))
		}
	}
	return least
}

// base returns valid options in which a field can have a value: only the required fields, or all
// fields if the field needs other fields.
func (b *badInput) base(least reflect.Value, index []int) reflect.Value {
	full, known := b.options[reflect.PointerTo(least.Type())]
	if !known || full.FieldByIndex(index).IsZero() {
		return least
	}
	if cases.Check(b.t, copied(least, index, full.FieldByIndex(index)).Interface()) == nil {
		return least
	}
	return full
}

// call calls the method and returns its error, the number of requests, and how the call ended.
func (m *badMethod) call(b *badInput, in []reflect.Value, opts ...forge.RequestOption) (err error, sent int64, out callresult.Outcome) { //nolint:revive,staticcheck // the error is what is looked at
	before := b.requests.Load()
	out = callresult.Of(callresult.Patience, func() error {
		return cases.Consume(m.method.CallSlice(append(slices.Clone(in), reflect.ValueOf(opts))))
	})
	return out.Err, b.requests.Load() - before, out
}

// valid checks that the method sends a request for valid arguments, so that a refusal in the other
// tests is caused by the invalid argument.
func (m *badMethod) valid(b *badInput) {
	err, sent, out := m.call(b, m.in)
	var invalid *forge.ValidationError
	assert.True(b.t, out.Kind == callresult.Returned && !errors.As(err, &invalid) && sent > 0, "valid input: the call %s, %d requests", out, sent)
}

// refused asserts the refusal of a call.
func (m *badMethod) refused(b *badInput, what string, in []reflect.Value, opts ...forge.RequestOption) *forge.ValidationError {
	err, sent, out := m.call(b, in, opts...)
	var invalid *forge.ValidationError
	if !assert.Equal(b.t, callresult.Returned, out.Kind, "%s: it %s", what, out) {
		return nil
	}
	assert.Zero(b.t, sent, "%s: a request was sent: %v", what, err)
	if !assert.ErrorAs(b.t, err, &invalid, what) {
		return nil
	}
	assert.NotEmpty(b.t, invalid.Option, "%s: %v", what, err)
	assert.NotEmpty(b.t, invalid.Route, "%s: %v", what, err)
	assert.NotEmpty(b.t, invalid.Reason, "%s: %v", what, err)
	return invalid
}

// badArguments sets each argument to each invalid value.
func (m *badMethod) badArguments(b *badInput) {
	for i := 2; i < len(m.in); i++ {
		kind := m.method.Type().In(i)
		bad := badArgumentValues(kind)
		switch kind {
		case reflect.TypeFor[forge.File]():
			bad = valuesOf(forge.File{}, forge.FileAt(""), forge.FileAt(b.t.TempDir())) // TestCallersCode tests files that end the process
		case reflect.TypeFor[forge.IntegrationOptions]():
			bad = append(valuesOf((*forge.CustomIntegration)(nil), &forge.CustomIntegration{}, &forge.CustomIntegration{Slug: ".."}), reflect.Zero(kind))
		case reflect.TypeFor[string]():
			if strings.Contains(m.name, "RegistryNative") { // an image path may have several segments
				bad = slices.DeleteFunc(bad, func(v reflect.Value) bool { return strings.Contains(v.String(), "/") })
			}
		}
		for _, value := range bad {
			in := slices.Clone(m.in)
			in[i] = value
			what := fmt.Sprintf("argument %d = %.60s", i-1, fmt.Sprint(value))
			for _, opts := range [][]forge.RequestOption{nil, {forge.SkipValidation()}} { // SkipValidation skips no check of a path
				invalid := m.refused(b, what, in, opts...)
				if invalid == nil || kind == reflect.TypeFor[forge.File]() || kind == reflect.TypeFor[forge.IntegrationOptions]() {
					continue
				}
				assert.NotEmpty(b.t, invalid.Param, "%s: no wire name: %v", what, invalid)
				assert.True(b.t, strings.Contains(m.name, "Wait") || strings.Contains(invalid.Route, ":"+invalid.Param), "%s: %q is not in the route: %v", what, invalid.Param, invalid)
			}
			if text, is := value.Interface().(forge.Path); is && text == "acme%2Fplatform" {
				if invalid := m.refused(b, what, in); invalid != nil {
					assert.Contains(b.t, invalid.Reason, "acme/platform", what)
				}
			}
		}
	}
}

// badArgumentValues returns invalid values of an argument.
func badArgumentValues(kind reflect.Type) (bad []reflect.Value) {
	switch {
	case kind == reflect.TypeFor[forge.Ref]():
		bad = valuesOf(forge.ID(0), forge.ID(-1), forge.ID(math.MinInt64), (*forge.ID)(nil), (*forge.Path)(nil), forge.Path("acme%2Fplatform"), forge.Path("acme%20platform"))
		for _, text := range catalogue.BadSegments {
			bad = append(bad, reflect.ValueOf(forge.Path(text)))
		}
		return append(bad, reflect.Zero(kind))
	case kind == reflect.TypeFor[forge.IntegrationName]():
		return append(valuesOf(forge.IntegrationSlug(""), forge.IntegrationSlug(".."), forge.IntegrationSlug("a\nb")), reflect.Zero(kind))
	case kind == reflect.TypeFor[*forge.SecureFile]():
		return valuesOf((*forge.SecureFile)(nil), &forge.SecureFile{}, &forge.SecureFile{ID: -1})
	case kind.Kind() == reflect.Int64:
		return valuesOf(int64(0), int64(-1), int64(math.MinInt64))
	case kind.Kind() == reflect.String:
		for _, text := range catalogue.BadSegments {
			bad = append(bad, reflect.ValueOf(text).Convert(kind))
		}
	}
	return bad
}

func valuesOf(all ...any) (values []reflect.Value) {
	for _, value := range all {
		values = append(values, reflect.ValueOf(value))
	}
	return values
}

// badOptions omits each required field, and sets each filter and each id to invalid values.
func (m *badMethod) badOptions(b *badInput) {
	for i := 2; i < len(m.in); i++ {
		kind := m.method.Type().In(i)
		if kind.Kind() != reflect.Pointer || kind == reflect.TypeFor[*forge.SecureFile]() || kind == reflect.TypeFor[*forge.SettingsDiff]() {
			continue
		}
		with := func(options reflect.Value) []reflect.Value {
			in := slices.Clone(m.in)
			in[i] = options
			return in
		}
		least := m.in[i].Elem()
		if !least.IsZero() && m.name != "Issues.Promote" { // Body has a default
			m.refused(b, "no options", with(reflect.Zero(kind)))
			m.refused(b, "empty options", with(reflect.New(kind.Elem())))
		}
		for field := range kind.Elem().Fields() {
			if !field.IsExported() {
				continue
			}
			if !least.FieldByIndex(field.Index).IsZero() && m.name != "Issues.Promote" {
				in := with(copied(least, field.Index, reflect.Zero(field.Type)))
				if invalid := m.refused(b, "without "+field.Name, in); invalid != nil {
					assert.NotEmpty(b.t, invalid.Param, "without %s: no wire name: %v", field.Name, invalid)
				}
			}
			if kind == reflect.TypeFor[*forge.UpdateSettingsOptions]() {
				continue // its lists may contain every value that a server has
			}
			for _, value := range badFieldValues(field) {
				m.badField(b, field, value, with(copied(b.base(least, field.Index), field.Index, value)))
			}
			if field.Type.Kind() != reflect.Pointer || field.Type.Elem().Kind() != reflect.Struct {
				continue
			}
			for inner := range field.Type.Elem().Fields() { // Not
				for _, value := range badFieldValues(inner) {
					not := reflect.New(field.Type.Elem())
					not.Elem().FieldByIndex(inner.Index).Set(value)
					m.badField(b, inner, value, with(copied(least, field.Index, not)))
				}
			}
		}
	}
}

// badField tests a value that is invalid for the field. With SkipValidation it is sent, unless the
// wire has no form for it.
func (m *badMethod) badField(b *badInput, field reflect.StructField, value reflect.Value, in []reflect.Value) {
	wire, _, _ := strings.Cut(field.Tag.Get("url")+field.Tag.Get("json"), ",")
	what := fmt.Sprintf("%s = %#v", field.Name, value)
	invalid := m.refused(b, what, in)
	if invalid == nil {
		return
	}
	assert.Contains(b.t, invalid.Option, field.Name, "%s: %v", what, invalid)
	assert.Contains(b.t, invalid.Param, wire, "%s: %v", what, invalid)
	switch field.Type {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[forge.Nullable[time.Duration]]():
		m.refused(b, what+", unchecked", in, forge.SkipValidation())
		return
	}
	if strings.Contains(m.name, "Preview") || strings.Contains(fmt.Sprint(value), ",") {
		return // Preview is always checked, and so is a comma in a label
	}
	err, sent, _ := m.call(b, in, forge.SkipValidation())
	assert.Positive(b.t, sent, "%s, unchecked: %v", what, err)
}

// copied returns a copy of options with another value in a field.
func copied(options reflect.Value, index []int, value reflect.Value) reflect.Value {
	other := reflect.New(options.Type())
	other.Elem().Set(options)
	other.Elem().FieldByIndex(index).Set(value)
	return other
}

// badFieldValues returns invalid values of a field: ids must be positive, set values must not be
// empty, numbers in a query must not be negative, and times and durations must have a form on the
// wire.
func badFieldValues(field reflect.StructField) (values []reflect.Value) {
	query := field.Tag.Get("url") != "" && field.Tag.Get("url") != "-"
	switch kind := field.Type; kind {
	case reflect.TypeFor[forge.IDFilter]():
		return valuesOf(forge.ID(-1), forge.ID(0))
	case reflect.TypeFor[forge.ID]():
		return valuesOf(forge.ID(-1), forge.ID(math.MinInt64))
	case reflect.TypeFor[int64]():
		return valuesOf(int64(-1), int64(math.MinInt64))
	case reflect.TypeFor[forge.IDListFilter]():
		return valuesOf(forge.IDs(), forge.IDs(-1), forge.IDs(7, 0))
	case reflect.TypeFor[[]int64]():
		return valuesOf([]int64{}, []int64{0}, []int64{7, -1})
	case reflect.TypeFor[forge.LabelNames](): // of not, which has no keywords
		return valuesOf(forge.Labels(), forge.Labels(""), forge.Labels("bug", " "), forge.Labels("a,b"))
	case reflect.TypeFor[forge.LabelFilter]():
		return valuesOf(forge.Labels(), forge.Labels(""), forge.Labels("bug", " "), forge.Labels("a,b"), forge.Labels("None"), forge.Labels("bug", "any"), forge.Labels("NO LABEL"))
	case reflect.TypeFor[forge.TextFilter]():
		return valuesOf(forge.Text(""), forge.Text(" \t"), forge.Text("none"), forge.Text("Any"))
	case reflect.TypeFor[forge.Text]():
		return valuesOf(forge.Text(" \t"))
	case reflect.TypeFor[forge.Hash]():
		return valuesOf(forge.Hash{}, forge.Hash{" ": "x"})
	case reflect.TypeFor[time.Time]():
		return valuesOf(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(math.MaxInt64>>2, 0))
	case reflect.TypeFor[forge.Nullable[time.Duration]]():
		return valuesOf(forge.Value(time.Duration(0)), forge.Value(-time.Second), forge.Value(1500*time.Millisecond))
	case reflect.TypeFor[[]string]():
		if strings.Contains(field.Tag.Get("json"), "omitzero") { // an empty value clears the field
			return valuesOf([]string{""}, []string{"a", " "})
		}
		return valuesOf([]string{}, []string{""}, []string{"a", " "})
	case reflect.TypeFor[int]():
		if query {
			return valuesOf(-1, math.MinInt)
		}
	default:
		if kind.Kind() == reflect.String && query && kind != reflect.TypeFor[forge.Age]() {
			return []reflect.Value{reflect.ValueOf(" ").Convert(kind), reflect.ValueOf("\t\n").Convert(kind)}
		}
	}
	return nil
}
