package contracttest_test

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every exported identifier and every exported struct field has a doc comment.
func TestEverythingIsDocumented(t *testing.T) {
	counted := 0
	for _, dir := range []string{".", "forgetest"} {
		set, files := parsePackage(t, dir)
		for _, file := range files {
			d := docs{t: t, file: set.Position(file.Package).Filename}
			for _, decl := range file.Decls {
				d.decl(decl)
			}
			counted += d.counted
		}
	}
	assert.Greater(t, counted, 1500, "the test has not found what it counts")
	t.Logf("%d exported names and fields are documented", counted)
}

// docs counts the documented names of a file.
type docs struct {
	t       *testing.T
	file    string
	counted int
}

func (d *docs) need(name string, comments ...*ast.CommentGroup) {
	if !ast.IsExported(name) {
		return
	}
	d.counted++
	for _, c := range comments {
		if strings.Trim(c.Text(), " .\n") != "" {
			return
		}
	}
	assert.Fail(d.t, d.file+": "+name+" has no doc comment")
}

func (d *docs) decl(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil || ast.IsExported(receiver(decl.Recv.List[0].Type)) {
			d.need(decl.Name.Name, decl.Doc)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				d.need(spec.Name.Name, spec.Doc, decl.Doc)
				d.members(spec)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					d.need(name.Name, spec.Doc, spec.Comment, oneOf(decl))
				}
			}
		}
	}
}

// oneOf returns the comment of a declaration of a single name; the comment of a block does not
// document its names.
func oneOf(decl *ast.GenDecl) *ast.CommentGroup {
	if len(decl.Specs) == 1 || decl.Lparen.IsValid() && decl.Tok == token.CONST && plainBlock(decl) {
		return decl.Doc
	}
	return nil
}

// plainBlock reports whether no name of the block has its own comment, so that the comment of the
// block documents all names.
func plainBlock(decl *ast.GenDecl) bool {
	for _, spec := range decl.Specs {
		if v, ok := spec.(*ast.ValueSpec); ok && (v.Doc != nil || v.Comment != nil) {
			return false
		}
	}
	return true
}

func (d *docs) members(spec *ast.TypeSpec) {
	if !ast.IsExported(spec.Name.Name) {
		return
	}
	switch body := spec.Type.(type) {
	case *ast.StructType:
		for _, f := range body.Fields.List {
			for _, name := range f.Names {
				d.need(name.Name, f.Doc, f.Comment)
			}
		}
	case *ast.InterfaceType:
		for _, m := range body.Methods.List {
			for _, name := range m.Names {
				d.need(name.Name, m.Doc, m.Comment)
			}
		}
	}
}
