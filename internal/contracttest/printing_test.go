package contracttest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

// TestPrintingOfValues prints, marshals and logs each exported type: the zero value, a nil pointer, one
// value for each field that is set alone, and one with all fields. Nothing panics, also where fmt or
// slog would hide it, and no text of an error has a hole.
func TestPrintingOfValues(t *testing.T) {
	racetest.SkipSequential(t)
	for name, kind := range zeroTypes(t) {
		if kind.Kind() == reflect.Interface || kind.Kind() == reflect.Func {
			continue
		}
		for place, value := range partlyFilled(kind) {
			printValue(t, name+" with "+place, value)
			printValue(t, name+" with "+place, value.Elem())
		}
		printValue(t, name+": nil", reflect.Zero(reflect.PointerTo(kind)))
	}
}

// partlyFilled returns pointers to values of a type: zero, each field set alone, and all fields.
func partlyFilled(kind reflect.Type) map[string]reflect.Value {
	all := reflect.New(kind)
	values := map[string]reflect.Value{"nothing": reflect.New(kind), "everything": all}
	if kind.Kind() != reflect.Struct {
		fillValue(all.Elem(), 3, false)
		return values
	}
	for field := range kind.Fields() {
		if field.IsExported() && !field.Anonymous {
			one := reflect.New(kind)
			fillValue(one.Elem().FieldByIndex(field.Index), 3, false)
			fillValue(all.Elem().FieldByIndex(field.Index), 3, false)
			values[field.Name] = one
		}
	}
	return values
}

// fillValue sets a value that is not zero and whose texts are a secret, with nil pointers at the given
// depth. A secret value has it in unexported fields too, but not in those that are printed.
func fillValue(v reflect.Value, depth int, secret bool) {
	if !v.CanSet() && secret {
		v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
	}
	raw := v.Type() == reflect.TypeFor[json.RawMessage]() // without a value it is not JSON
	if depth == 0 && !raw || !v.CanSet() {
		return
	}
	switch kind := v.Type(); kind.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(404)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.String:
		v.SetString(secretText)
	case reflect.Pointer:
		v.Set(reflect.New(kind.Elem()))
		fillValue(v.Elem(), depth-1, secret)
	case reflect.Slice:
		if kind.Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`"` + secretText + `"`)) // also valid JSON
			return
		}
		v.Set(reflect.MakeSlice(kind, 2, 2)) // the second item is zero, so a nil pointer if it is one
		fillValue(v.Index(0), depth-1, secret)
	case reflect.Map:
		key, value := reflect.New(kind.Key()).Elem(), reflect.New(kind.Elem()).Elem()
		if key.Kind() == reflect.String {
			key.SetString("name")
		}
		fillValue(value, depth-1, secret)
		v.Set(reflect.MakeMap(kind))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for field, value := range v.Fields() {
			// A name is printed, and so is a reason. The rest of a time is unexported.
			shown := secret && slices.Contains([]string{"Name", "Reason", "OnlyInGot", "Slug"}, field.Name)
			if !shown && kind != reflect.TypeFor[time.Time]() && (secret || field.IsExported()) {
				fillValue(value, depth-1, secret)
			}
		}
	case reflect.Interface:
		for _, candidate := range []any{forge.ID(1), &forge.EmailsOnPushOptions{}, forge.Labels("bug"), forge.Number(3), forge.Text("a"), secretText} {
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
		text := err.Error()
		assert.Regexp(t, `^forge: \S`, text, place)
		assert.NotRegexp(t, `  |: :|: ;|; ;|\(\)|\( | \)|[:;] ?$|\n`, text, place)
		assert.NotPanics(t, func() { _, _ = errors.Is(err, forge.ErrNotFound), errors.Is(err, forge.ErrNotModified) }, place)
	}
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
		fillValue(value.Elem(), 5, true)
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
	for _, name := range []string{"ApplicationSettings", "UpdateSettingsOptions", "SettingsDiff", "SettingsReport", "SettingDifference", "RegistryToken", "WebexTeamsOptions", "CustomIntegration"} {
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
