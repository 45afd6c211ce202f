package forge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
)

// reveals looks for the secret in everything that v holds, unexported fields too, and in everything that it prints as; it gives
// the places. Functions are closed to it, as they are to any caller, and so is net/http's own transport.
func reveals(v any) []string {
	s := search{found: map[string]bool{}, been: map[any]bool{}}
	s.look("value", reflect.ValueOf(v))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		s.text(verb, fmt.Sprintf(verb, v))
	}
	if data, err := json.Marshal(v); err == nil {
		s.text("JSON", string(data))
	}
	var places []string
	for place := range s.found {
		places = append(places, place)
	}
	return places
}

type search struct {
	found map[string]bool
	been  map[any]bool
}

func (s *search) text(place, text string) {
	if strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", secret)) {
		s.found[place] = true
	}
}

func (s *search) look(place string, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		s.text(place, v.String())
	case reflect.Interface:
		s.look(place, v.Elem())
	case reflect.Pointer:
		if v.IsNil() || v.Type() == reflect.TypeFor[*http.Transport]() || s.been[v.UnsafePointer()] {
			return
		}
		s.been[v.UnsafePointer()] = true
		s.look(place, v.Elem())
		s.words(place, v)
	case reflect.Struct:
		for i := range v.NumField() {
			s.look(place+"."+v.Type().Field(i).Name, v.Field(i))
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

// words reads what the value says of itself.
func (s *search) words(place string, v reflect.Value) {
	if !v.CanInterface() {
		return
	}
	switch x := v.Interface().(type) {
	case error:
		s.text(place+".Error()", x.Error())
	case fmt.Stringer:
		s.text(place+".String()", x.String())
	}
}
