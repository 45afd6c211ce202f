package forge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exportedOf reads the names of the package's exported functions or types from the committed list.
func exportedOf(t *testing.T, kind string) map[string]bool {
	t.Helper()
	file, err := os.Open("api/forge.txt")
	require.NoError(t, err)
	defer file.Close()
	names := map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, is := strings.CutPrefix(lines.Text(), "pkg forge, "+kind+" "); is {
			name := rest[:strings.IndexAny(rest, " ([")]
			names[name] = true
		}
	}
	require.NotEmpty(t, names)
	return names
}

// zeroTypes are the exported types, found from what a Client leads to, and from those that a caller
// makes.
func zeroTypes(t *testing.T) map[string]reflect.Type {
	t.Helper()
	found, seen := map[string]reflect.Type{}, map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(kind reflect.Type) {
		name, _, _ := strings.Cut(kind.Name(), "[")
		own := kind.PkgPath() == reflect.TypeFor[Client]().PkgPath() && name != ""
		if seen[kind] || name != "" && !own && kind.Kind() != reflect.Func { // iter.Seq2 leads on
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
		reflect.TypeFor[Client](), reflect.TypeFor[Option](), reflect.TypeFor[Call](), reflect.TypeFor[Error](), reflect.TypeFor[RateLimitError](), reflect.TypeFor[ValidationError](),
		reflect.TypeFor[ID](), reflect.TypeFor[Path](), reflect.TypeFor[Response](), reflect.TypeFor[RetryPolicy](), reflect.TypeFor[Limiter](), reflect.TypeFor[SettingsDiff](), reflect.TypeFor[Cursor](),
		reflect.TypeFor[WorkCalendar](), reflect.TypeFor[HashList](), reflect.TypeFor[CustomIntegration](), reflect.TypeFor[IntegrationSlug](), reflect.TypeFor[Number](), reflect.TypeFor[Text](),
		reflect.TypeFor[Attempt](), reflect.TypeFor[Route](), reflect.TypeFor[PlannedRequest](), reflect.TypeFor[ChecksumAlgorithm](), reflect.TypeFor[Vocabulary](), reflect.TypeFor[RegistryAction](), reflect.TypeFor[Drift](),
	} {
		look(kind)
	}
	for _, kind := range integrationTypes() {
		look(kind)
	}
	return found
}

// integrationTypes are the options of the kinds of integrations.
func integrationTypes() (kinds []reflect.Type) {
	for _, row := range kindRows {
		kinds = append(kinds, reflect.TypeOf(row.options()))
	}
	return kinds
}

// panicOf calls f, and tells with what it panics.
func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// zeroArguments are zero values for all parameters but the receiver.
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

// Every method of every exported type takes zero values and nil, on the zero value of its type,
// without a panic. What says whether it worked says that it did not.
func TestZeroValues(t *testing.T) {
	types := zeroTypes(t)
	for name := range exportedOf(t, "type") {
		assert.NotNil(t, types[name], "%s is not found: name it in zeroTypes", name)
	}
	methods := 0
	for name, kind := range types {
		if kind.Kind() == reflect.Interface {
			continue
		}
		for method := range reflect.PointerTo(kind).Methods() {
			if method.Name == "Format" || method.Name == "EncodeValues" { // packages fmt and query give them what they need
				continue
			}
			methods++
			receiver := reflect.New(kind)
			in := zeroArguments(method, receiver)
			var err error
			p := panicOf(func() {
				if out := method.Func.Call(in); len(out) > 0 {
					err = consume(out)
				}
			})
			assert.Nil(t, p, "%s.%s panics: %v", name, method.Name, p)
			if strings.HasSuffix(name, "Service") && p == nil && method.Name != "Write" && method.Name != "Read" {
				var invalid *ValidationError
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

// Every method of every service takes zero values and nil with a client too.
func TestZeroArguments(t *testing.T) {
	b := newBadInput(t)
	for _, m := range b.methods(t) {
		in := append([]reflect.Value{}, m.in...)
		for i := 2; i < len(in); i++ {
			in[i] = reflect.Zero(m.method.Type().In(i))
		}
		var err error
		p := panicOf(func() { err = consume(m.method.Call(in)) })
		assert.Nil(t, p, "%s panics: %v", m.name, p)
		assert.Error(t, err, m.name)
	}
}

// A Client that NewClient has not made says so in everything that can say it, and nil is one.
func TestZeroClient(t *testing.T) {
	ctx := t.Context()
	for _, c := range []*Client{new(Client), nil} {
		var invalid *ValidationError
		for name, call := range map[string]func() error{
			"Do":     func() error { return c.Do(ctx, callOf(safe), nil) },
			"Do out": func() error { return c.Do(ctx, callOf(safe), new(any), Into(new(Response)), DryRun(nil)) },
			"Do nil": func() error { return c.Do(nil, Call{}, nil) }, //nolint:staticcheck // a nil context is what is tested
			"ListAs": func() error {
				_, err := Collect(ListAs[int](ctx, c, offsetCall, Ahead(3)))
				return err
			},
			"With": func() error {
				_, err := c.With(WithToken("token-1"))
				return err
			},
		} {
			var err error
			require.Nil(t, panicOf(func() { err = call() }), name)
			require.ErrorAs(t, err, &invalid, name)
			assert.ErrorContains(t, err, "was not made by NewClient", name)
		}
		assert.Equal(t, "text", c.Redact("text"))
		assert.Zero(t, c.Stats())
		assert.Empty(t, c.BaseURL())
		assert.NotPanics(t, c.CloseIdleConnections)
	}
	assert.Equal(t, "forge.Client()", Client{}.String())
	assert.Equal(t, "forge.Client() forge.Client() <nil>", fmt.Sprintf("%v %#v %v", Client{}, &Client{}, (*Client)(nil)))
}

// A nil context is refused before anything is sent, by everything that takes one.
func TestNilContext(t *testing.T) {
	client := silentServer(t)
	client, err := client.With(WithRegistry("https://registry.example.com", "https://auth.example.com"), WithRegistryCredentials("a", "password"), WithVocabulary(GitLab))
	require.NoError(t, err)
	var none context.Context
	tested := 0
	b := newBadInput(t)
	for _, m := range b.methods(t) {
		in := append([]reflect.Value{}, m.in...)
		in[0] = reflect.ValueOf(serviceOf(client, m.in[0].Type()))
		in[1] = reflect.Zero(reflect.TypeFor[context.Context]())
		for _, opts := range [][]RequestOption{nil, {Unchecked()}, {DryRun(nil)}, {Ahead(4), OnePage()}} {
			if len(opts) == 2 && !m.list {
				continue
			}
			var err error
			require.Nil(t, panicOf(func() { err = consume(m.method.CallSlice(append(in, reflect.ValueOf(opts)))) }), m.name)
			var invalid *ValidationError
			require.ErrorAs(t, err, &invalid, "%s: %v", m.name, err)
			assert.Contains(t, invalid.Reason, "nil Context", m.name)
			assert.NotEmpty(t, invalid.Route, m.name)
			tested++
		}
	}
	assert.Greater(t, tested, 250)
	for _, r := range runners {
		err := r.run(none, client)
		require.ErrorContains(t, err, "nil Context", r.name)
	}
	_, known := RouteFromContext(none)
	assert.False(t, known)
}

// Every exported function takes zero values without a panic.
func TestZeroFunctions(t *testing.T) {
	const address = "https://forge.example.com"
	for _, name := range []string{"FORGE_URL", "FORGE_TOKEN", "CI_API_V4_URL", "CI_JOB_TOKEN"} {
		t.Setenv(name, "")
	}
	client := silentServer(t)
	option := func(o Option) error {
		_, err := NewClient(address, o)
		return err
	}
	request := func(o RequestOption) error {
		_, err := client.Repositories.Archive(t.Context(), ID(1), nil, o, DryRun(nil))
		_, list := Collect(client.Issues.List(t.Context(), nil, o, DryRun(nil)))
		return errors.Join(err, list)
	}
	// refused is what must be an error, fine what may be one.
	const fine, refused = false, true
	rows := map[string]struct {
		run     func() error
		refused bool
	}{
		"NewClient":               {func() error { _, err := NewClient(""); return err }, refused},
		"NewClientFromEnv":        {func() error { _, err := NewClientFromEnv(nil, nil); return err }, refused},
		"WithHTTPClient":          {func() error { return option(WithHTTPClient(nil)) }, refused},
		"WithJobToken":            {func() error { return option(WithJobToken("")) }, refused},
		"WithToken":               {func() error { return option(WithToken("")) }, refused},
		"WithLimiter":             {func() error { return option(WithLimiter(nil)) }, fine},
		"WithDrift":               {func() error { return option(WithDrift(nil)) }, fine},
		"WithLogger":              {func() error { return option(WithLogger(nil)) }, fine},
		"WithOAuth":               {func() error { return option(WithOAuth(nil, nil)) }, refused},
		"WithOnAttempt":           {func() error { return option(WithOnAttempt(nil)) }, fine},
		"WithOnRefresh":           {func() error { return option(WithOnRefresh(nil)) }, fine},
		"WithPlainHTTP":           {func() error { return option(WithPlainHTTP()) }, fine},
		"WithRegistry":            {func() error { return option(WithRegistry("", "")) }, refused},
		"WithRegistryCredentials": {func() error { return option(WithRegistryCredentials("", "")) }, refused},
		"WithRetry":               {func() error { return option(WithRetry(RetryPolicy{})) }, fine},
		"WithRootCAs":             {func() error { return option(WithRootCAs(nil)) }, refused},
		"WithStrictDecoding":      {func() error { return option(WithStrictDecoding()) }, fine},
		"WithTokenSource":         {func() error { return option(WithTokenSource(nil)) }, refused},
		"WithUserAgent":           {func() error { return option(WithUserAgent("")) }, refused},
		"WithVocabulary":          {func() error { return option(WithVocabulary("")) }, fine},
		"WithoutCredential":       {func() error { return option(WithoutCredential()) }, fine},
		"Ahead":                   {func() error { return request(Ahead(0)) }, fine},
		"Checksum":                {func() error { return request(Checksum("", "")) }, refused},
		"Complete":                {func() error { return request(Complete()) }, refused},
		"DryRun":                  {func() error { return request(nil) }, fine},
		"Header":                  {func() error { return request(Header("", "")) }, refused},
		"HeaderTimeout":           {func() error { return request(HeaderTimeout(0)) }, refused},
		"Into":                    {func() error { return request(Into(nil)) }, fine},
		"MaxBytes":                {func() error { return request(MaxBytes(0)) }, refused},
		"OnePage":                 {func() error { return request(OnePage()) }, fine},
		"PerPage":                 {func() error { return request(PerPage(0)) }, refused},
		"Progress":                {func() error { return request(Progress(nil)) }, fine},
		"Query":                   {func() error { return request(Query("", "")) }, refused},
		"Retry":                   {func() error { return request(Retry(RetryPolicy{})) }, fine},
		"StartAt":                 {func() error { return request(StartAt("")) }, fine},
		"Sudo":                    {func() error { return request(Sudo(0)) }, refused},
		"Unchecked":               {func() error { return request(Unchecked()) }, fine},
		"Collect":                 {func() error { _, err := Collect[int](nil); return err }, refused},
		"ListAs":                  {func() error { _, err := Collect(ListAs[int](t.Context(), nil, Call{})); return err }, refused},
		"FileAt":                  {func() error { _, err := FileAt("").Open(); return err }, refused},
		"FileBytes":               {func() error { _, err := FileBytes(nil).Open(); return err }, fine},
		"FileReader":              {func() error { _, err := FileReader(nil, 0).Open(); return err }, refused},
		"DiffSettings":            {func() error { _, err := DiffSettings(nil, nil); return err }, fine},
		"ParseAge":                {func() error { _, err := ParseAge(""); return err }, refused},
		"ParseDate":               {func() error { _, err := ParseDate(""); return err }, refused},
		"ParseWorkDuration":       {func() error { _, err := ParseWorkDuration(""); return err }, refused},
		"DateOf":                  {func() error { _ = DateOf(time.Time{}).String(); return nil }, fine},
		"NewDate":                 {func() error { _ = NewDate(0, 0, 0).String(); return nil }, fine},
		"Days":                    {func() error { _ = Days(0); return nil }, fine},
		"Hours":                   {func() error { _ = Hours(0); return nil }, fine},
		"Months":                  {func() error { _ = Months(0); return nil }, fine},
		"IDs":                     {func() error { _ = IDs(); return nil }, fine},
		"Labels":                  {func() error { _ = Labels(); return nil }, fine},
		"Null":                    {func() error { _, err := Null[any]().MarshalJSON(); return err }, fine},
		"Value":                   {func() error { _, err := Value[any](nil).MarshalJSON(); return err }, fine},
		"RepositoryScope":         {func() error { return RepositoryScope("").check() }, refused},
		"RouteFromContext":        {func() error { _, _ = RouteFromContext(nil); return nil }, fine}, //nolint:staticcheck // a nil context is what is tested
		"Routes":                  {func() error { _ = Routes(); return nil }, fine},
		"Unchanged":               {func() error { _ = Unchanged(nil); return nil }, fine},
	}
	for name, test := range rows {
		var err error
		p := panicOf(func() { err = test.run() })
		assert.Nil(t, p, "%s panics: %v", name, p)
		if test.refused {
			assert.Error(t, err, name)
			var request *ValidationError
			if strings.HasPrefix(name, "With") || strings.HasPrefix(name, "New") {
				assert.ErrorAs(t, err, &request, name)
			}
		}
	}
	for name := range exportedOf(t, "func") {
		assert.NotNil(t, rows[name].run, "%s has no row", name)
	}
}

// Errors made by hand, with some of their fields, say what they have.
func TestErrorsByHand(t *testing.T) {
	for _, err := range []error{
		&Error{}, &Error{Status: 404}, &Error{Method: "GET"}, &Error{Route: "/user"}, &Error{Path: "/user"}, &Error{Message: "x"}, &Error{Fields: map[string][]string{"": nil}}, &Error{Attempts: -1}, &Error{Status: -1},
		&Error{MaybeApplied: true}, &Error{RequestID: "x"}, &RateLimitError{}, &RateLimitError{Until: time.Unix(1, 0)}, &RateLimitError{Err: &Error{}}, &ValidationError{}, &ValidationError{Param: "x"}, &ValidationError{Option: "argument"},
	} {
		var text string
		require.Nil(t, panicOf(func() {
			text = err.Error()
			_ = errors.Unwrap(err)
			_ = errors.Is(err, ErrNotFound)
			_ = errors.Is(err, context.Canceled)
			_ = Unchanged(err)
			var failed *Error
			var limited *RateLimitError
			_ = errors.As(err, &failed)
			_ = errors.As(err, &limited)
			text += fmt.Sprintf("%v %+v %q", err, err, err)
		}), "%T", err)
		assert.True(t, strings.HasPrefix(text, "forge:"), text)
	}
}
