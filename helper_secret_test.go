package forge

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/forge-sdk/forge-go/internal/safetext/safetexttest"
)

// reveals searches for secrets in everything that v holds, including unexported fields, and in all
// printed forms of v. It returns the places. It does not look into functions, like any caller, nor
// into net/http's own transport.
func reveals(v any, secrets ...string) []string {
	s := search{found: map[string]bool{}, been: map[any]bool{}, forms: secretForms(append(secrets, secret))}
	s.look("value", reflect.ValueOf(v))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%p"} {
		s.text(verb, fmt.Sprintf(verb, v))
	}
	if data, err := json.Marshal(v); err == nil {
		s.text("JSON", string(data))
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("", "v", v, "group", slog.GroupValue(slog.Any("v", v)))
	slog.New(slog.NewJSONHandler(&log, nil)).Info("", "v", v, "list", []any{v})
	s.text("slog", log.String())
	var places []string
	for place := range s.found {
		places = append(places, place)
	}
	return places
}

// secretForms returns the secrets as plain text, in hex, in all forms of base64, and in the
// spellings of FuzzRedaction.
func secretForms(secrets []string) (forms []string) {
	for _, secret := range secrets {
		forms = append(forms, fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret), strings.Trim(fmt.Sprintf("%d", []byte(secret)), "[]"))
		for _, spell := range safetexttest.Spellings() {
			forms = append(forms, spell(secret))
		}
		for shift := range 3 {
			shifted := strings.Repeat("x", shift) + secret
			whole := shifted[:len(shifted)/3*3] // the part that the surrounding bytes do not change
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
				forms = append(forms, encoding.EncodeToString([]byte(whole))[min(shift, 1)*4:])
			}
		}
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

type search struct {
	found map[string]bool
	been  map[any]bool
	forms []string
}

func (s *search) text(place, text string) {
	for _, form := range s.forms {
		if strings.Contains(text, form) {
			s.found[place] = true
		}
	}
}

func (s *search) look(place string, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		s.text(place, v.String())
	case reflect.Interface:
		s.look(place, v.Elem())
	case reflect.Pointer:
		// An open stream has the request below its unexported fields; no verb of fmt follows them.
		if v.IsNil() || v.Type() == reflect.TypeFor[*http.Transport]() || v.Type() == reflect.TypeFor[*stream]() || s.been[v.UnsafePointer()] {
			return
		}
		s.been[v.UnsafePointer()] = true
		s.look(place, v.Elem())
		s.words(place, v)
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Type().PkgPath() != "context" || isContextValue(name) {
				s.look(place+"."+name, v.Field(i))
			}
		}
		s.words(place, v)
	case reflect.Map:
		for iter := v.MapRange(); iter.Next(); {
			s.look(place+" key", iter.Key())
			s.look(place+fmt.Sprintf("[%v]", iter.Key()), iter.Value())
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
			s.text(place, string(v.Bytes()))
			return
		}
		for i := range v.Len() {
			s.look(fmt.Sprintf("%s[%d]", place, i), v.Index(i))
		}
	}
}

// isContextValue reports whether a field of a context holds a value of the caller. The other fields
// implement cancellation and change concurrently.
func isContextValue(field string) bool {
	return slices.Contains([]string{"Context", "cancelCtx", "c", "key", "val"}, field)
}

// words searches the printed forms of the value.
func (s *search) words(place string, v reflect.Value) {
	if !v.CanInterface() || v.Kind() == reflect.Struct && v.Type().PkgPath() == "context" {
		return
	}
	switch x := v.Interface().(type) {
	case context.Context:
		s.look(place+" cause", reflect.ValueOf(context.Cause(x)))
	case error:
		s.text(place+".Error()", x.Error())
	case fmt.Stringer:
		s.text(place+".String()", x.String())
	}
}
