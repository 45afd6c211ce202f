package contracttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// testTypes are the exported types of forgetest.
func testTypes() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, kind := range []reflect.Type{
		reflect.TypeFor[forgetest.BotKind](), reflect.TypeFor[forgetest.Change](), reflect.TypeFor[forgetest.Commit](), reflect.TypeFor[forgetest.Document](),
		reflect.TypeFor[forgetest.Fault](), reflect.TypeFor[forgetest.Group](), reflect.TypeFor[forgetest.Issue](), reflect.TypeFor[forgetest.MergeRequest](),
		reflect.TypeFor[forgetest.Offering](), reflect.TypeFor[forgetest.Option](), reflect.TypeFor[forgetest.Placeholder](), reflect.TypeFor[forgetest.Project](),
		reflect.TypeFor[forgetest.RegistryRepository](), reflect.TypeFor[forgetest.Request](), reflect.TypeFor[forgetest.ResourceGroup](), reflect.TypeFor[forgetest.Role](), reflect.TypeFor[forgetest.RouteOption](),
		reflect.TypeFor[forgetest.Runner](), reflect.TypeFor[forgetest.Server](), reflect.TypeFor[forgetest.Tier](), reflect.TypeFor[forgetest.User](),
		reflect.TypeFor[forgetest.Visibility](),
	} {
		types[kind.Name()] = kind
	}
	return types
}

// TestPrintingOfValues prints, marshals and logs each exported type of both packages: the zero
// value, a nil pointer, one value for each field that is set alone, and one with all fields. Nothing
// panics, also where fmt or slog would hide it, and no text of an error has a hole.
func TestPrintingOfValues(t *testing.T) {
	for pkg, types := range map[string]map[string]reflect.Type{"forge": zeroTypes(t), "forgetest": testTypes()} {
		for name := range exportedIn(t, pkg, "type") {
			kind := types[name]
			if !assert.NotNil(t, kind, "%s.%s is not in the list of types", pkg, name) || kind.Kind() == reflect.Interface || kind.Kind() == reflect.Func {
				continue
			}
			for place, value := range partlyFilled(kind) {
				place = pkg + "." + name + " with " + place
				printValue(t, place, value)
				printValue(t, place, value.Elem())
			}
			printValue(t, pkg+"."+name+": nil", reflect.Zero(reflect.PointerTo(kind)))
		}
	}
}

// partlyFilled returns pointers to values of a type: zero, each field set alone, and all fields.
func partlyFilled(kind reflect.Type) map[string]reflect.Value {
	all := reflect.New(kind)
	values := map[string]reflect.Value{"nothing": reflect.New(kind), "everything": all}
	if kind.Kind() != reflect.Struct {
		fillValue(all.Elem(), 3)
		return values
	}
	for field := range kind.Fields() {
		if ast.IsExported(field.Name) && !field.Anonymous {
			one := reflect.New(kind)
			fillValue(one.Elem().FieldByIndex(field.Index), 3)
			fillValue(all.Elem().FieldByIndex(field.Index), 3)
			values[field.Name] = one
		}
	}
	return values
}

// fillValue sets a value that is not zero, with nil pointers at the given depth.
func fillValue(v reflect.Value, depth int) {
	switch kind := v.Type(); {
	case v.CanSet() && kind == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"a":1}`))
	case !v.CanSet() || depth == 0:
	case kind == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1_700_000_000, 0)))
	case kind == reflect.TypeFor[forge.Date]():
		v.Set(reflect.ValueOf(forge.Date{Year: 2026, Month: time.March, Day: 4}))
	case v.CanInt():
		v.SetInt(404)
	case v.CanUint():
		v.SetUint(7)
	case v.CanFloat():
		v.SetFloat(1.5)
	default:
		fillComposite(v, depth)
	}
}

func fillComposite(v reflect.Value, depth int) {
	kind := v.Type()
	switch kind.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("text")
	case reflect.Pointer:
		v.Set(reflect.New(kind.Elem()))
		fillValue(v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(kind, 2, 2)) // the second item is zero, so a nil pointer if it is one
		fillValue(v.Index(0), depth-1)
	case reflect.Map:
		key, value := reflect.New(kind.Key()).Elem(), reflect.New(kind.Elem()).Elem()
		fillValue(key, depth-1)
		fillValue(value, depth-1)
		v.Set(reflect.MakeMap(kind))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for field := range kind.Fields() {
			if field.IsExported() {
				fillValue(v.FieldByIndex(field.Index), depth-1)
			}
		}
	case reflect.Interface:
		for _, candidate := range []any{forge.ID(1), &forge.EmailsOnPushOptions{}, forge.Labels("bug"), forge.Number(3), forge.Text("a"), "text"} {
			if reflect.TypeOf(candidate).Implements(kind) {
				v.Set(reflect.ValueOf(candidate))
			}
		}
	}
}

// printValue prints a value in all ways.
func printValue(t *testing.T, place string, value reflect.Value) {
	t.Helper()
	v := value.Interface()
	verbs := []string{"%v", "%+v"}
	switch v.(type) {
	case error, fmt.Stringer:
		verbs = append(verbs, "%s", "%q", "%x")
	}
	for _, verb := range verbs {
		assert.NotRegexp(t, `PANIC|%!`, fmt.Sprintf(verb, v), "%s: %s", place, verb)
	}
	assert.NotPanics(t, func() { _ = fmt.Sprintf("%#v", v) }, place)
	assert.NotPanics(t, func() {
		_, err := json.Marshal(v)
		text := fmt.Sprint(err) // a type with a function, or a Date that is none
		if !strings.Contains(text, "unsupported type") && !strings.Contains(text, "is not a date") {
			assert.NoError(t, err, place)
		}
	}, place)
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(handler).Info("value", "v", v)
	}
	assert.NotRegexp(t, `PANIC|%!`, log.String(), place)
	if err, is := v.(error); is {
		checkError(t, place, err)
	}
}

// checkError uses an error as programs do.
func checkError(t *testing.T, place string, err error) {
	t.Helper()
	assert.NotPanics(t, func() {
		text := err.Error()
		assert.Regexp(t, `^forge: \S`, text, place)
		assert.NotRegexp(t, `  |: :|: ;|; ;|\(\)|\( | \)|[:;] ?$|\n`, text, place)
		for _, sentinel := range []error{forge.ErrNotFound, forge.ErrRateLimited, context.Canceled, nil} {
			_ = errors.Is(err, sentinel)
		}
		_ = forge.IsNotModified(err)
		var failed *forge.Error
		var limited *forge.RateLimitError
		var invalid *forge.ValidationError
		_, _, _, _ = errors.As(err, &failed), errors.As(err, &limited), errors.As(err, &invalid), errors.Unwrap(err)
	}, place)
}

// secretText is planted in values whose type can hold secrets.
const secretText = "planted-0123456789"

// TestSecretsAreNotPrinted plants a secret in each text of each exported type that can hold one: a
// type with a field of that name, with the configuration of an integration, or with unexported
// text. No verb of fmt, no handler of slog and no error that wraps the value shows the secret.
func TestSecretsAreNotPrinted(t *testing.T) {
	holders := map[string]bool{}
	forms := []string{secretText, fmt.Sprintf("%x", secretText), fmt.Sprintf("%X", secretText), strings.Trim(fmt.Sprintf("%d", []byte(secretText)), "[]")}
	for name, kind := range zeroTypes(t) {
		if kind.Kind() != reflect.Struct || !canHoldSecret(kind, 4) {
			continue
		}
		holders[name] = true
		value := reflect.New(kind)
		plantSecret(value.Elem(), 5)
		if logged, logs := value.Elem().Interface().(slog.LogValuer); logs {
			if _, formats := logged.(fmt.Formatter); formats {
				assert.Contains(t, fmt.Sprint(logged), logged.LogValue().String(), name)
			}
		}
		for _, v := range []any{value.Interface(), value.Elem().Interface(), []any{value.Interface()}, struct{ V any }{value.Elem().Interface()}} {
			for verb, text := range printedForms(v) {
				shown := slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(text, form) })
				assert.False(t, shown, "%T: %s", v, verb)
			}
		}
	}
	for _, name := range []string{"ApplicationSettings", "UpdateSettingsOptions", "SettingsDiff", "SettingsReport", "SettingDifference", "RegistryToken", "TeamChatDOptions", "CustomIntegration"} {
		assert.True(t, holders[name], name)
	}
}

// canHoldSecret reports whether a value of the type can hold a secret.
func canHoldSecret(kind reflect.Type, depth int) bool {
	switch kind.Kind() {
	case reflect.Pointer, reflect.Slice:
		return depth > 0 && canHoldSecret(kind.Elem(), depth-1)
	case reflect.Struct:
	default:
		return false
	}
	// The text of these is the value itself, or was redacted before it was stored.
	public := []string{"Error", "ValidationError", "RateLimitError", "IDList", "LabelNames", "PlannedRequest", "PlaceholderReassignment", "Download", "Drift", "File"}
	if kind.PkgPath() != reflect.TypeFor[forge.Client]().PkgPath() || slices.Contains(public, kind.Name()) {
		return false
	}
	if _, integrates := reflect.New(kind).Interface().(forge.IntegrationOptions); integrates {
		return true
	}
	for field := range kind.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		named := regexp.MustCompile(`(^|_)(token|secret|password|api_key|license_key|webhook)$`).MatchString(name) && holdsText(field.Type, 2)
		if named || !field.IsExported() && holdsText(field.Type, 4) || canHoldSecret(field.Type, depth-1) {
			return true
		}
	}
	return false
}

func holdsText(kind reflect.Type, depth int) bool {
	switch kind.Kind() {
	case reflect.String:
		return true
	case reflect.Slice:
		return kind.Elem().Kind() == reflect.Uint8 || depth > 0 && holdsText(kind.Elem(), depth-1)
	case reflect.Map, reflect.Pointer:
		return depth > 0 && holdsText(kind.Elem(), depth-1)
	case reflect.Struct:
		for field := range kind.Fields() {
			if depth > 0 && kind != reflect.TypeFor[time.Time]() && holdsText(field.Type, depth-1) {
				return true
			}
		}
	}
	return false
}

// plantSecret sets all texts in a value to the secret, in unexported fields too.
func plantSecret(v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	if !v.CanSet() {
		v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
	}
	switch kind := v.Type(); kind.Kind() {
	case reflect.String:
		v.SetString(secretText)
	case reflect.Interface:
		if kind.NumMethod() == 0 {
			v.Set(reflect.ValueOf(secretText))
		}
	case reflect.Pointer:
		v.Set(reflect.New(kind.Elem()))
		plantSecret(v.Elem(), depth-1)
	case reflect.Slice:
		if kind.Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`"` + secretText + `"`)) // also valid JSON
			return
		}
		v.Set(reflect.MakeSlice(kind, 1, 1))
		plantSecret(v.Index(0), depth-1)
	case reflect.Map:
		value := reflect.New(kind.Elem()).Elem()
		plantSecret(value, depth-1)
		v.Set(reflect.MakeMap(kind))
		v.SetMapIndex(reflect.ValueOf("name").Convert(kind.Key()), value)
	case reflect.Struct:
		for field, value := range v.Fields() {
			// A name is printed, and so is a reason. The rest of a time is unexported.
			if names := []string{"Name", "Reason", "OnlyInGot", "Slug"}; !slices.Contains(names, field.Name) && kind != reflect.TypeFor[time.Time]() {
				plantSecret(value, depth-1)
			}
		}
	}
}

// printedForms returns a value as printed in each verb, logged by slog, and wrapped in an error.
func printedForms(v any) map[string]string {
	forms := map[string]string{"Sprint": fmt.Sprint(v), "error": fmt.Errorf("wrapped: %w", fmt.Errorf("%+v", v)).Error()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%t", "%T", "%8.3s"} {
		forms[verb] = fmt.Sprintf(verb, v)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("", "v", v, slog.Group("group", "v", v))
	forms["slog text"] = log.String()
	switch reflect.Indirect(reflect.ValueOf(v)).Type().Name() {
	case "": // inside another value encoding/json writes it, as for a request
	default:
		log.Reset()
		slog.New(slog.NewJSONHandler(&log, nil)).Info("", "v", v, slog.Group("group", "v", v))
		forms["slog JSON"] = log.String()
	}
	return forms
}
