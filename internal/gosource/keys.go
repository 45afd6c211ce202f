package gosource

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// KeyReader is code that decodes JSON files. It reads the keys for which its structs have fields
// that the code uses.
type KeyReader struct {
	*Package
	files   []string                // names of the files
	used    map[declaration]bool    // declarations that the code uses
	targets map[string][]types.Type // the types into which each file is decoded
}

// declaration identifies an object in all packages that use it.
type declaration struct {
	name, file string
	line       int
}

func declarationOf(in *Package, object types.Object) declaration {
	at := in.Fset.Position(object.Pos())
	return declaration{object.Name(), path.Base(at.Filename), at.Line}
}

// NewKeyReader returns the reader of the files with these names. The first package, or packages
// that were loaded with it, decode them.
func NewKeyReader(files []string, packages ...*Package) *KeyReader {
	r := &KeyReader{Package: packages[0], files: files, used: map[declaration]bool{}, targets: map[string][]types.Type{}}
	for _, p := range packages {
		for _, object := range p.Info.Uses {
			r.used[declarationOf(p, object)] = true
		}
		for _, file := range p.Files {
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					r.target(p, call)
				}
				return true
			})
		}
	}
	return r
}

// target records the type of x in calls such as parse("catalogue/types.json", &x).
func (r *KeyReader) target(in *Package, call *ast.CallExpr) {
	file := ""
	ast.Inspect(call, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, _ := strconv.Unquote(literal.Value)
			if name := path.Base(text); slices.Contains(r.files, name) {
				file = name
			}
		}
		return true
	})
	if file == "" {
		return
	}
	for _, arg := range call.Args {
		if p, ok := in.Info.TypeOf(arg).Underlying().(*types.Pointer); ok {
			r.targets[file] = append(r.targets[file], p.Elem())
		}
	}
}

// unread returns the paths of a file that the reader does not read.
func (r *KeyReader) unread(file string, value any) map[string]bool {
	name, _, _ := strings.Cut(file, ".")
	paths := map[string]bool{}
	if len(r.targets[file]) > 0 {
		r.walk(paths, name, value, r.targets[file])
	}
	return paths
}

// KeyReaders each read a part of the files.
type KeyReaders []*KeyReader

// Unread returns the paths of a file that none of the readers reads.
func (all KeyReaders) Unread(file string, value any) (paths map[string]bool) {
	for _, r := range all {
		switch own := r.unread(file, value); {
		case len(r.targets[file]) == 0:
		case paths == nil:
			paths = own
		default:
			maps.DeleteFunc(paths, func(path string, _ bool) bool { return !own[path] })
		}
	}
	return paths
}

func (r *KeyReader) walk(paths map[string]bool, at string, value any, into []types.Type) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			r.walk(paths, at, item, elements(into))
		}
	case map[string]any:
		for key, item := range value {
			name := at + "." + key
			switch {
			case strings.HasSuffix(key, "params") || key == "keys":
				name = at + ".param"
			case len(elements(into)) > 0: // a map whose keys are names of types, or words
				name = at
			}
			switch fields, whole := r.fields(into, key); {
			case whole:
			case len(fields) == 0:
				paths[name] = true
			default:
				r.walk(paths, name, item, fields)
			}
		}
	}
}

// fields returns the type into which the value of a key is decoded. whole reports whether the
// object is kept undecoded.
func (r *KeyReader) fields(into []types.Type, key string) (fields []types.Type, whole bool) {
	for _, t := range into {
		switch under := pointed(t).Underlying().(type) {
		case *types.Map:
			fields = append(fields, under.Elem())
		case *types.Struct:
			fields = append(fields, r.field(under, key)...)
		case *types.Interface, *types.Slice: // any, and json.RawMessage
			whole = true
		}
	}
	return fields, whole
}

// field returns a struct's field for a key if the code uses it, or else that of an embedded struct.
func (r *KeyReader) field(s *types.Struct, key string) (found []types.Type) {
	for i := range s.NumFields() {
		f := s.Field(i)
		name := reflect.StructTag(s.Tag(i)).Get("json")
		switch {
		case f.Embedded() && name == "":
			found = append(found, r.field(pointed(f.Type()).Underlying().(*types.Struct), key)...)
		case (name == key || name == "" && strings.EqualFold(f.Name(), key)) && r.used[declarationOf(r.Package, f)]:
			return []types.Type{f.Type()}
		}
	}
	return found
}

func pointed(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// elements returns the types of the elements of slices and maps.
func elements(list []types.Type) (elements []types.Type) {
	for _, t := range list {
		switch under := pointed(t).Underlying().(type) {
		case *types.Slice:
			elements = append(elements, under.Elem())
		case *types.Map:
			elements = append(elements, under.Elem())
		}
	}
	return elements
}
