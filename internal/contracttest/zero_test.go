package contracttest_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

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
		reflect.TypeFor[forge.IDList](), reflect.TypeFor[forge.CustomIntegration](), reflect.TypeFor[forge.IntegrationSlug](), reflect.TypeFor[forge.IntegrationKind](), reflect.TypeFor[forge.Number](), reflect.TypeFor[forge.Text](),
		reflect.TypeFor[forge.Attempt](), reflect.TypeFor[forge.Route](), reflect.TypeFor[forge.PlannedRequest](), reflect.TypeFor[forge.Vocabulary](), reflect.TypeFor[forge.RegistryAction](), reflect.TypeFor[forge.Drift](),
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
					assert.Regexp(t, "^forge: [A-Z]+ /.* was not made by NewClient", err.Error(), "%s.%s", name, method.Name)
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

// Every function with a context refuses a nil context and sends nothing.
func TestNilContext(t *testing.T) {
	b := newBadInput(t)
	var none context.Context
	for _, m := range b.methods(t) {
		in := append([]reflect.Value{}, m.in...)
		in[1] = reflect.Zero(reflect.TypeFor[context.Context]())
		for _, opts := range [][]forge.RequestOption{nil, {forge.SkipValidation()}, {forge.DryRun(nil)}} {
			if invalid := m.refused(b, "a nil context", in, opts...); invalid != nil {
				assert.Equal(t, "ctx", invalid.Option, m.name)
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

// zeroFunctions are the exported functions.
var zeroFunctions = []any{
	forge.NewClient, forge.NewClientFromEnv, forge.WithHTTPClient, forge.WithJobToken, forge.WithToken, forge.WithLimiter, forge.WithDrift, forge.WithLogger, forge.WithOAuth,
	forge.WithOnAttempt, forge.WithOnRefresh, forge.WithPlainHTTP, forge.WithRegistry, forge.WithRegistryCredentials, forge.WithRetry, forge.WithRootCAs, forge.WithStrictDecoding, forge.WithoutPacing,
	forge.WithTokenSource, forge.WithUserAgent, forge.WithVocabulary, forge.WithHeader, forge.WithHeaderTimeout, forge.WithMaxBytes, forge.WithPerPage, forge.WithTimeout, forge.WithoutCredential, forge.Ahead, forge.Checksum, forge.DryRun, forge.Header,
	forge.HeaderTimeout, forge.Into, forge.MaxBytes, forge.OnePage, forge.PerPage, forge.Progress, forge.Query, forge.Retry, forge.Since, forge.Overlap, forge.MarkAt, forge.StartAt, forge.Sudo, forge.SkipValidation, forge.Timeout,
	forge.FakeList[int], forge.FakeResponse, forge.Collect[int], forge.ListAs[int], forge.DoAs[int], forge.FileAt, forge.FileBytes, forge.FileReader, forge.DiffSettings, forge.ParseDate,
	forge.ParseWorkDuration, forge.IDs, forge.Labels, forge.Null[any], forge.Value[any], forge.RepositoryScope,
	forge.RouteFromContext, forge.Routes,
}

// refusesZero are the functions that refuse zero values, at the latest with a call.
var refusesZero = strings.Fields(`NewClient NewClientFromEnv WithHTTPClient WithJobToken WithToken WithOAuth WithRegistry WithRegistryCredentials WithRootCAs WithTokenSource WithUserAgent WithHeader WithHeaderTimeout
	WithMaxBytes WithPerPage WithTimeout
	Checksum Header HeaderTimeout MaxBytes Overlap PerPage Query Sudo Timeout Collect ListAs DoAs FileAt FileReader ParseDate ParseWorkDuration RepositoryScope`)

// No exported function panics if the arguments are zero values, nor does a call with what it returns.
func TestZeroFunctions(t *testing.T) {
	for _, name := range []string{"FORGE_URL", "FORGE_TOKEN", "CI_API_V4_URL", "CI_JOB_TOKEN"} {
		t.Setenv(name, "")
	}
	client := silentClient(t, forge.WithRegistry(registryAddress, authAddress), forge.WithRegistryCredentials("a", "password"))
	names := exported(t, "forge", `func (\w+)`)
	for _, function := range zeroFunctions {
		v := reflect.ValueOf(function)
		name := strings.TrimSuffix(runtime.FuncForPC(v.Pointer()).Name(), "[...]")
		name = name[strings.LastIndex(name, ".")+1:]
		delete(names, name)
		var in []reflect.Value
		for i := range v.Type().NumIn() {
			if !v.Type().IsVariadic() || i < v.Type().NumIn()-1 {
				in = append(in, reflect.Zero(v.Type().In(i)))
			}
		}
		var err error
		p := panicOf(func() {
			out := v.Call(in)
			switch made := out[0].Interface().(type) {
			case forge.Option:
				_, err = forge.NewClient("https://forge.example.com", made)
			case forge.RequestOption:
				_, err = client.Repositories.Archive(t.Context(), forge.ID(1), nil, made, forge.DryRun(nil))
				err = errors.Join(err, failure(forge.Collect(client.Issues.List(t.Context(), nil, made, forge.DryRun(nil)))))
			case forge.File:
				_, err = made.Open()
			case forge.RegistryScope:
				_, err = client.RegistryNative.GetToken(t.Context(), &forge.GetRegistryTokenOptions{Scopes: []forge.RegistryScope{made}})
			default:
				err = cases.Consume(out)
			}
		})
		assert.Nil(t, p, "%s panics: %v", name, p)
		if slices.Contains(refusesZero, name) {
			assert.Error(t, err, name)
		}
	}
	assert.Empty(t, names, "they are not in the list")
}
