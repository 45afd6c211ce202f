package embeddedjson

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"
	"unicode"
)

// methods maps the methods that encoding/json calls to what it does without the other fields.
var methods = []struct{ name, effect string }{
	{"MarshalJSON", "does not write"},
	{"UnmarshalJSON", "does not read"},
}

// message returns the message for a struct type of the program, or "" if encoding/json loses
// nothing. It omits methods for which the type other, which may be nil, has a message.
func message(t, other types.Type, in *types.Package) string {
	var names []string
	var text, effect string
	for _, method := range methods {
		if lost := methodMessage(t, method.name, in); lost != "" && methodMessage(other, method.name, in) == "" {
			names, text, effect = append(names, method.name), lost, method.effect
		}
	}
	if len(names) == len(methods) {
		effect = "ignores"
	}
	return strings.NewReplacer("EFFECT", effect, "METHODS", strings.Join(names, " and ")).Replace(text)
}

// methodMessage returns the message for one method, with EFFECT and METHODS in place of the words
// that depend on both.
func methodMessage(t types.Type, method string, in *types.Package) string {
	if t == nil {
		return ""
	}
	fields, isStruct := t.Underlying().(*types.Struct)
	if !isStruct {
		return ""
	}
	if text := promotedMessage(t, fields, method, in); text != "" {
		return text
	}
	return ambiguousMessage(t, fields, method, in)
}

// promotedMessage returns the message for a struct with a method that is promoted from a type of
// package forge, if encoding/json would write other fields of the struct.
func promotedMessage(t types.Type, fields *types.Struct, method string, in *types.Package) string {
	found, path := lookup(t, method)
	if found == nil || len(path) == 1 || !isForge(found.Pkg()) {
		return ""
	}
	var lost []string
	for i := range fields.NumFields() {
		if i != path[0] && isWritten(fields.Field(i), fields.Tag(i), nil) {
			lost = append(lost, fields.Field(i).Name())
		}
	}
	if len(lost) == 0 {
		return ""
	}
	return fmt.Sprintf("encoding/json EFFECT %s: the struct has METHODS of the embedded %s; use a named field: %s",
		strings.Join(lost, ", "), typeString(receiver(found), in), namedField(fields, path[0], in))
}

// ambiguousMessage returns the message for a struct without the method because several embedded
// types have it, if one of them is of package forge and has no name in JSON.
func ambiguousMessage(t types.Type, fields *types.Struct, method string, in *types.Package) string {
	if found, path := lookup(t, method); found != nil || path == nil {
		return ""
	}
	var having []string
	first := -1
	for i := range fields.NumFields() {
		if !fields.Field(i).Embedded() {
			continue
		}
		found, path := lookup(fields.Field(i).Type(), method)
		if path == nil {
			continue
		}
		having = append(having, fields.Field(i).Name())
		if first < 0 && found != nil && isForge(found.Pkg()) && jsonName(fields.Tag(i)) == "" {
			first = i
		}
	}
	if first < 0 {
		return ""
	}
	return fmt.Sprintf("encoding/json EFFECT Extra, and keys that %s share: Go promotes METHODS of one embedded type only; use named fields: %s",
		strings.Join(having, " and "), namedField(fields, first, in))
}

// lookup returns the method that a value of the type has, and the path of fields to it. If it is
// ambiguous, there is a path only; without a method there is none.
func lookup(t types.Type, method string) (found *types.Func, path []int) {
	object, path, _ := types.LookupFieldOrMethod(t, true, nil, method)
	found, isFunc := object.(*types.Func)
	if object != nil && !isFunc {
		return nil, nil
	}
	return found, path
}

func receiver(method *types.Func) types.Type { return deref(method.Signature().Recv().Type()) }

// isWritten reports whether encoding/json writes a field of a struct without MarshalJSON. above has
// the structs that embed the field.
func isWritten(field *types.Var, tag string, above []types.Type) bool {
	if reflect.StructTag(tag).Get("json") == "-" {
		return false
	}
	inner, isStruct := deref(field.Type()).Underlying().(*types.Struct)
	if !field.Embedded() || !isStruct {
		return field.Exported()
	}
	if jsonName(tag) != "" {
		return true
	}
	for _, other := range above {
		if types.Identical(other, deref(field.Type())) {
			return false
		}
	}
	above = append(above, deref(field.Type()))
	for i := range inner.NumFields() {
		if isWritten(inner.Field(i), inner.Tag(i), above) {
			return true
		}
	}
	return false
}

// jsonName returns the name in the json tag: "-" if the field is omitted, "" if there is none.
func jsonName(tag string) string {
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return name
}

// namedField returns the declaration of a named field in place of an embedded one.
func namedField(fields *types.Struct, i int, in *types.Package) string {
	field, key := fields.Field(i), jsonName(fields.Tag(i))
	if key == "" {
		key = snakeCase(field.Name())
	}
	return fmt.Sprintf("%s %s `json:%q`", exported(field.Name()), typeString(field.Type(), in), key)
}

func exported(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// snakeCase returns "merge_request" for MergeRequest.
func snakeCase(name string) string {
	var out strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

func typeString(t types.Type, in *types.Package) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == in {
			return ""
		}
		return p.Name()
	})
}

func deref(t types.Type) types.Type {
	if pointer, isPointer := types.Unalias(t).(*types.Pointer); isPointer {
		return pointer.Elem()
	}
	return t
}

func isForge(p *types.Package) bool { return p != nil && p.Path() == forgePath }
