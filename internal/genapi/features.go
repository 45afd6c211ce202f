package main

import (
	"fmt"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

// writer collects the lines of one package.
type writer struct {
	pkg   *types.Package
	lines []string
}

// features returns the exported API of a package, sorted.
func features(pkg *types.Package) []string {
	w := &writer{pkg: pkg}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		obj := scope.Lookup(name)
		if !obj.Exported() {
			continue
		}
		switch obj := obj.(type) {
		case *types.Const:
			w.constant(obj)
		case *types.Var:
			w.add("var %s %s", name, w.typ(obj.Type()))
		case *types.Func:
			w.add("func %s%s", name, w.signature(obj.Signature()))
		case *types.TypeName:
			w.declared(obj)
		}
	}
	slices.Sort(w.lines)
	return slices.Compact(w.lines)
}

func (w *writer) add(format string, args ...any) {
	w.lines = append(w.lines, "pkg "+w.pkg.Name()+", "+fmt.Sprintf(format, args...))
}

func (w *writer) constant(c *types.Const) {
	failure := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	value := " = " + c.Val().ExactString()
	switch {
	case types.Implements(c.Type(), failure):
		value = ""
	case c.Val().Kind() == constant.Float: // ExactString is a fraction
		value = " = " + c.Val().String()
	}
	w.add("const %s %s%s", c.Name(), w.typ(c.Type()), value)
}

func (w *writer) declared(obj *types.TypeName) {
	if alias, ok := obj.Type().(*types.Alias); ok {
		w.add("type %s%s = %s", obj.Name(), w.typeParams(alias.TypeParams()), w.typ(alias.Rhs()))
		return
	}
	named := obj.Type().(*types.Named)
	name := obj.Name() + w.typeParams(named.TypeParams())
	switch under := named.Underlying().(type) {
	case *types.Interface:
		w.iface(name, under)
		return
	case *types.Struct:
		w.add("type %s struct", name)
		w.fields(obj.Name(), named, under)
	default:
		w.add("type %s %s", name, w.typ(under))
	}
	w.methods(named)
}

// fields lists a struct's exported fields. The fields of an embedded struct are the struct's own if
// its type is unexported; an exported type has its own lines.
func (w *writer) fields(owner string, named *types.Named, s *types.Struct) {
	for f := range s.Fields() {
		inner, isStruct := deref(f.Type()).Underlying().(*types.Struct)
		switch {
		case f.Exported() && f.Embedded():
			w.add("type %s struct, embedded %s", owner, w.typ(f.Type()))
		case f.Exported() && w.isPromoted(named, f):
			w.add("type %s struct, %s %s", owner, f.Name(), w.typ(f.Type()))
		case !f.Exported():
			w.add("type %s struct, unexported fields", owner)
			if f.Embedded() && isStruct {
				w.fields(owner, named, inner)
			}
		}
	}
}

// isPromoted reports whether the field's name selects it: no outer field hides it.
func (w *writer) isPromoted(named *types.Named, f *types.Var) bool {
	found, _, _ := types.LookupFieldOrMethod(named, true, w.pkg, f.Name())
	return found == f
}

// methods lists the exported methods of a type and of its pointer, except those promoted from an
// embedded exported type.
func (w *writer) methods(named *types.Named) {
	ofValue := types.NewMethodSet(named)
	for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		if !m.Obj().Exported() || w.isInherited(named, m.Index()) {
			continue
		}
		receiver := named.Obj().Name()
		if ofValue.Lookup(w.pkg, m.Obj().Name()) == nil {
			receiver = "*" + receiver
		}
		w.add("method (%s) %s%s", receiver, m.Obj().Name(), w.signature(m.Obj().(*types.Func).Signature()))
	}
}

// isInherited reports whether the path to a method passes an exported embedded field.
func (w *writer) isInherited(t types.Type, path []int) bool {
	for _, i := range path[:len(path)-1] {
		field := deref(t).Underlying().(*types.Struct).Field(i)
		if field.Exported() {
			return true
		}
		t = field.Type()
	}
	return false
}

// iface lists the methods of an interface. If it has unexported methods, callers cannot implement
// it, and a new method breaks no caller. Otherwise the line of the type changes with each method.
func (w *writer) iface(name string, i *types.Interface) {
	var exported []string
	sealed := false
	for m := range i.Methods() {
		if !m.Exported() {
			sealed = true
			continue
		}
		exported = append(exported, m.Name())
		w.add("type %s interface, %s%s", name, m.Name(), w.signature(m.Signature()))
	}
	switch {
	case !i.IsMethodSet():
		w.add("type %s %s", name, w.typ(i))
	case sealed:
		w.add("type %s interface, unexported methods", name)
	default:
		slices.Sort(exported)
		w.add("type %s interface { %s }", name, strings.Join(exported, ", "))
	}
}

func deref(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
