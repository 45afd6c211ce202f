package contracttest_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// zeroTypes returns the exported types: those that are reachable from Client, and those that
// callers create.
func zeroTypes(t *testing.T) map[string]reflect.Type {
	t.Helper()
	found, seen := map[string]reflect.Type{}, map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(kind reflect.Type) {
		name, _, _ := strings.Cut(kind.Name(), "[")
		own := kind.PkgPath() == reflect.TypeFor[forge.Client]().PkgPath() && name != ""
		if seen[kind] || name != "" && !own && kind.Kind() != reflect.Func { // iter.Seq2 leads to further types
			return
		}
		seen[kind] = true
		if own && ast.IsExported(name) {
			found[name] = kind
		}
		switch kind.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			look(kind.Elem())
		case reflect.Map:
			look(kind.Key())
			look(kind.Elem())
		case reflect.Func:
			for in := range kind.Ins() {
				look(in)
			}
			for out := range kind.Outs() {
				look(out)
			}
		case reflect.Struct:
			for field := range kind.Fields() {
				if field.IsExported() {
					look(field.Type)
				}
			}
		}
		for _, with := range []reflect.Type{kind, reflect.PointerTo(kind)} {
			for method := range with.Methods() {
				look(method.Type)
			}
		}
	}
	for _, kind := range []reflect.Type{
		reflect.TypeFor[forge.Client](), reflect.TypeFor[forge.Option](), reflect.TypeFor[forge.Call](), reflect.TypeFor[forge.Error](), reflect.TypeFor[forge.RateLimitError](), reflect.TypeFor[forge.ValidationError](),
		reflect.TypeFor[forge.ID](), reflect.TypeFor[forge.Path](), reflect.TypeFor[forge.Response](), reflect.TypeFor[forge.RetryPolicy](), reflect.TypeFor[forge.Limiter](), reflect.TypeFor[forge.SettingsDiff](), reflect.TypeFor[forge.Cursor](),
		reflect.TypeFor[forge.WorkCalendar](), reflect.TypeFor[forge.HashList](), reflect.TypeFor[forge.IDList](), reflect.TypeFor[forge.CustomIntegration](), reflect.TypeFor[forge.IntegrationSlug](), reflect.TypeFor[forge.Number](), reflect.TypeFor[forge.Text](),
		reflect.TypeFor[forge.Attempt](), reflect.TypeFor[forge.Route](), reflect.TypeFor[forge.PlannedRequest](), reflect.TypeFor[forge.ChecksumAlgorithm](), reflect.TypeFor[forge.Vocabulary](), reflect.TypeFor[forge.RegistryAction](), reflect.TypeFor[forge.Drift](),
	} {
		look(kind)
	}
	for _, kind := range integrationTypes() {
		look(kind)
	}
	return found
}

// integrationTypes returns the options types of the kinds of integrations.
func integrationTypes() (kinds []reflect.Type) {
	for _, row := range cases.Kinds {
		kinds = append(kinds, reflect.TypeOf(row.Options()))
	}
	return kinds
}

// panicOf calls f and returns the value with which it panics.
func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// zeroArguments returns zero values for all parameters except the receiver.
func zeroArguments(method reflect.Method, receiver reflect.Value) []reflect.Value {
	in := []reflect.Value{receiver}
	for i := 1; i < method.Type.NumIn(); i++ {
		if method.Type.IsVariadic() && i == method.Type.NumIn()-1 {
			break
		}
		in = append(in, reflect.Zero(method.Type.In(i)))
	}
	return in
}

// No method of an exported type panics if the receiver and the arguments are zero values or nil.
// The methods of services return an error.
func TestZeroValues(t *testing.T) {
	types := zeroTypes(t)
	for name := range exported(t, "forge", `type (\w+)`) {
		assert.NotNil(t, types[name], "%s is not found: name it in zeroTypes", name)
	}
	methods := 0
	for name, kind := range types {
		if kind.Kind() == reflect.Interface {
			continue
		}
		for method := range reflect.PointerTo(kind).Methods() {
			if method.Name == "Format" || method.Name == "EncodeValues" { // the packages fmt and query pass them valid arguments
				continue
			}
			methods++
			receiver := reflect.New(kind)
			in := zeroArguments(method, receiver)
			var err error
			p := panicOf(func() {
				if out := method.Func.Call(in); len(out) > 0 {
					err = cases.Consume(out)
				}
			})
			assert.Nil(t, p, "%s.%s panics: %v", name, method.Name, p)
			if strings.HasSuffix(name, "Service") && p == nil && method.Name != "WriteCSV" && method.Name != "ReadCSV" {
				var invalid *forge.ValidationError
				if assert.ErrorAs(t, err, &invalid, "%s.%s", name, method.Name) && invalid.Option != "argument" {
					assert.ErrorContains(t, err, "was not made by NewClient", "%s.%s", name, method.Name)
				}
			}
		}
		p := panicOf(func() {
			_ = fmt.Sprintf("%v %+v %#v", reflect.Zero(kind), reflect.New(kind), reflect.Zero(kind).Interface())
		})
		assert.Nil(t, p, "%s cannot be printed", name)
	}
	assert.Greater(t, methods, 150, "the methods are not found")
}

// No method of a service of a client panics if the arguments are zero values or nil.
func TestZeroArguments(t *testing.T) {
	b := newBadInput(t)
	for _, m := range b.methods(t) {
		in := append([]reflect.Value{}, m.in...)
		for i := 2; i < len(in); i++ {
			in[i] = reflect.Zero(m.method.Type().In(i))
		}
		var err error
		p := panicOf(func() { err = cases.Consume(m.method.Call(in)) })
		assert.Nil(t, p, "%s panics: %v", m.name, p)
		assert.Error(t, err, m.name)
	}
}

// Every function with a context refuses a nil context and sends nothing.
func TestNilContext(t *testing.T) {
	b := newBadInput(t)
	var none context.Context
	for _, m := range b.methods(t) {
		in := append([]reflect.Value{}, m.in...)
		in[1] = reflect.Zero(reflect.TypeFor[context.Context]())
		for _, opts := range [][]forge.RequestOption{nil, {forge.SkipValidation()}, {forge.DryRun(nil)}} {
			if invalid := m.refused(b, "a nil context", in, opts...); invalid != nil {
				assert.Contains(t, invalid.Reason, "nil Context", m.name)
			}
		}
	}
	client, call := silentClient(t), forge.Call{Method: http.MethodGet, Route: "/issues"}
	for _, err := range []error{client.Do(none, call, nil), client.Do(none, call, new(any)), failure(forge.Collect(forge.ListAs[map[string]any](none, client, call)))} {
		require.ErrorContains(t, err, "nil Context")
	}
	_, known := forge.RouteFromContext(none)
	assert.False(t, known)
}

// No exported function panics if the arguments are zero values.
func TestZeroFunctions(t *testing.T) {
	const address = "https://forge.example.com"
	for _, name := range []string{"FORGE_URL", "FORGE_TOKEN", "CI_API_V4_URL", "CI_JOB_TOKEN"} {
		t.Setenv(name, "")
	}
	client := silentClient(t, forge.WithRegistry(registryAddress, authAddress), forge.WithRegistryCredentials("a", "password"))
	option := func(o forge.Option) error {
		_, err := forge.NewClient(address, o)
		return err
	}
	request := func(o forge.RequestOption) error {
		_, err := client.Repositories.Archive(t.Context(), forge.ID(1), nil, o, forge.DryRun(nil))
		_, list := forge.Collect(client.Issues.List(t.Context(), nil, o, forge.DryRun(nil)))
		return errors.Join(err, list)
	}
	// refused means that the function must return an error, fine that it may.
	const fine, refused = false, true
	rows := map[string]struct {
		run     func() error
		refused bool
	}{
		"NewClient":               {func() error { _, err := forge.NewClient(""); return err }, refused},
		"NewClientFromEnv":        {func() error { _, err := forge.NewClientFromEnv(nil, nil); return err }, refused},
		"WithHTTPClient":          {func() error { return option(forge.WithHTTPClient(nil)) }, refused},
		"WithJobToken":            {func() error { return option(forge.WithJobToken("")) }, refused},
		"WithToken":               {func() error { return option(forge.WithToken("")) }, refused},
		"WithLimiter":             {func() error { return option(forge.WithLimiter(nil)) }, fine},
		"WithDrift":               {func() error { return option(forge.WithDrift(nil)) }, fine},
		"WithLogger":              {func() error { return option(forge.WithLogger(nil)) }, fine},
		"WithOAuth":               {func() error { return option(forge.WithOAuth(nil, nil)) }, refused},
		"WithOnAttempt":           {func() error { return option(forge.WithOnAttempt(nil)) }, fine},
		"WithOnRefresh":           {func() error { return option(forge.WithOnRefresh(nil)) }, fine},
		"WithPlainHTTP":           {func() error { return option(forge.WithPlainHTTP()) }, fine},
		"WithRegistry":            {func() error { return option(forge.WithRegistry("", "")) }, refused},
		"WithRegistryCredentials": {func() error { return option(forge.WithRegistryCredentials("", "")) }, refused},
		"WithRetry":               {func() error { return option(forge.WithRetry(forge.RetryPolicy{})) }, fine},
		"WithRootCAs":             {func() error { return option(forge.WithRootCAs(nil)) }, refused},
		"WithStrictDecoding":      {func() error { return option(forge.WithStrictDecoding()) }, fine},
		"WithTokenSource":         {func() error { return option(forge.WithTokenSource(nil)) }, refused},
		"WithUserAgent":           {func() error { return option(forge.WithUserAgent("")) }, refused},
		"WithVocabulary":          {func() error { return option(forge.WithVocabulary("")) }, fine},
		"WithoutCredential":       {func() error { return option(forge.WithoutCredential()) }, fine},
		"Ahead":                   {func() error { return request(forge.Ahead(0)) }, fine},
		"Checksum":                {func() error { return request(forge.Checksum("", "")) }, refused},
		"RequireComplete":         {func() error { return request(forge.RequireComplete()) }, refused},
		"DryRun":                  {func() error { return request(nil) }, fine},
		"Header":                  {func() error { return request(forge.Header("", "")) }, refused},
		"HeaderTimeout":           {func() error { return request(forge.HeaderTimeout(0)) }, refused},
		"Into":                    {func() error { return request(forge.Into(nil)) }, fine},
		"MaxBytes":                {func() error { return request(forge.MaxBytes(0)) }, refused},
		"OnePage":                 {func() error { return request(forge.OnePage()) }, fine},
		"PerPage":                 {func() error { return request(forge.PerPage(0)) }, refused},
		"Progress":                {func() error { return request(forge.Progress(nil)) }, fine},
		"Query":                   {func() error { return request(forge.Query("", "")) }, refused},
		"Retry":                   {func() error { return request(forge.Retry(forge.RetryPolicy{})) }, fine},
		"StartAt":                 {func() error { return request(forge.StartAt("")) }, fine},
		"Sudo":                    {func() error { return request(forge.Sudo(0)) }, refused},
		"SkipValidation":          {func() error { return request(forge.SkipValidation()) }, fine},
		"Timeout":                 {func() error { return request(forge.Timeout(0)) }, refused},
		"FakeList":                {func() error { _, err := forge.Collect(forge.FakeList[int](nil)); return err }, fine},
		"FakeResponse":            {func() error { return forge.FakeResponse(forge.Response{}, nil) }, fine},
		"Collect":                 {func() error { _, err := forge.Collect[int](nil); return err }, refused},
		"ListAs":                  {func() error { _, err := forge.Collect(forge.ListAs[int](t.Context(), nil, forge.Call{})); return err }, refused},
		"FileAt":                  {func() error { _, err := forge.FileAt("").Open(); return err }, refused},
		"FileBytes":               {func() error { _, err := forge.FileBytes(nil).Open(); return err }, fine},
		"FileReader":              {func() error { _, err := forge.FileReader(nil, 0).Open(); return err }, refused},
		"DiffSettings":            {func() error { _, err := forge.DiffSettings(nil, nil); return err }, fine},
		"ParseAge":                {func() error { _, err := forge.ParseAge(""); return err }, refused},
		"ParseDate":               {func() error { _, err := forge.ParseDate(""); return err }, refused},
		"ParseWorkDuration":       {func() error { _, err := forge.ParseWorkDuration(""); return err }, refused},
		"DateOf":                  {func() error { _ = forge.DateOf(time.Time{}).String(); return nil }, fine},
		"NewDate":                 {func() error { _ = forge.NewDate(0, 0, 0).String(); return nil }, fine},
		"Days":                    {func() error { _ = forge.Days(0); return nil }, fine},
		"Hours":                   {func() error { _ = forge.Hours(0); return nil }, fine},
		"Months":                  {func() error { _ = forge.Months(0); return nil }, fine},
		"IDs":                     {func() error { _ = forge.IDs(); return nil }, fine},
		"Labels":                  {func() error { _ = forge.Labels(); return nil }, fine},
		"Null":                    {func() error { _, err := forge.Null[any]().MarshalJSON(); return err }, fine},
		"Value":                   {func() error { _, err := forge.Value[any](nil).MarshalJSON(); return err }, fine},
		"RepositoryScope": {func() error {
			_, err := client.RegistryNative.GetToken(t.Context(), &forge.RegistryTokenOptions{Scopes: []forge.RegistryScope{forge.RepositoryScope("")}})
			return err
		}, refused},
		"RouteFromContext": {func() error { _, _ = forge.RouteFromContext(nil); return nil }, fine}, //nolint:staticcheck // a nil context is what is tested
		"Routes":           {func() error { _ = forge.Routes(); return nil }, fine},
		"IsNotModified":    {func() error { _ = forge.IsNotModified(nil); return nil }, fine},
	}
	for name, test := range rows {
		var err error
		p := panicOf(func() { err = test.run() })
		assert.Nil(t, p, "%s panics: %v", name, p)
		if test.refused {
			assert.Error(t, err, name)
			var request *forge.ValidationError
			if strings.HasPrefix(name, "With") || strings.HasPrefix(name, "New") {
				assert.ErrorAs(t, err, &request, name)
			}
		}
	}
	for name := range exported(t, "forge", `func (\w+)`) {
		assert.NotNil(t, rows[name].run, "%s has no row", name)
	}
}
