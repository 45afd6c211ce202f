package main

import (
	"go/types"
	"strconv"
	"strings"
)

// typ writes a type as in the source of its package, but without the names of parameters. With
// types.TypeString, which writes the names, a new name would look like a new type.
func (w *writer) typ(t types.Type) string {
	switch t := t.(type) {
	case *types.Pointer:
		return "*" + w.typ(t.Elem())
	case *types.Slice:
		return "[]" + w.typ(t.Elem())
	case *types.Array:
		return "[" + strconv.FormatInt(t.Len(), 10) + "]" + w.typ(t.Elem())
	case *types.Map:
		return "map[" + w.typ(t.Key()) + "]" + w.typ(t.Elem())
	case *types.Chan:
		return map[types.ChanDir]string{types.SendRecv: "chan ", types.SendOnly: "chan<- ", types.RecvOnly: "<-chan "}[t.Dir()] + w.typ(t.Elem())
	case *types.Signature:
		return "func" + w.signature(t)
	case *types.Named:
		return w.qualified(t.Obj()) + w.typeArgs(t.TypeArgs())
	case *types.Alias:
		return w.qualified(t.Obj()) + w.typeArgs(t.TypeArgs())
	}
	return types.TypeString(t, w.qualifier)
}

func (w *writer) qualified(obj *types.TypeName) string {
	if obj.Pkg() == nil || obj.Pkg() == w.pkg {
		return obj.Name()
	}
	return obj.Pkg().Name() + "." + obj.Name()
}

func (w *writer) qualifier(pkg *types.Package) string {
	if pkg == w.pkg {
		return ""
	}
	return pkg.Name()
}

// signature writes the types of parameters and results: "(string, ...Option) (*Client, error)".
func (w *writer) signature(s *types.Signature) string {
	var params []string
	for i := range s.Params().Len() {
		t := s.Params().At(i).Type()
		if s.Variadic() && i == s.Params().Len()-1 {
			params = append(params, "..."+w.typ(t.(*types.Slice).Elem()))
			continue
		}
		params = append(params, w.typ(t))
	}
	var results []string
	for v := range s.Results().Variables() {
		results = append(results, w.typ(v.Type()))
	}
	text := w.typeParams(s.TypeParams()) + "(" + strings.Join(params, ", ") + ")"
	switch len(results) {
	case 0:
		return text
	case 1:
		return text + " " + results[0]
	}
	return text + " (" + strings.Join(results, ", ") + ")"
}

func (w *writer) typeParams(list *types.TypeParamList) string {
	var params []string
	for p := range list.TypeParams() {
		params = append(params, p.Obj().Name()+" "+w.typ(p.Constraint()))
	}
	if len(params) == 0 {
		return ""
	}
	return "[" + strings.Join(params, ", ") + "]"
}

func (w *writer) typeArgs(list *types.TypeList) string {
	var args []string
	for t := range list.Types() {
		args = append(args, w.typ(t))
	}
	if len(args) == 0 {
		return ""
	}
	return "[" + strings.Join(args, ", ") + "]"
}
