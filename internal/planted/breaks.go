package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// plant is one break of the code.
type plant struct {
	title     string // the property that it breaks
	file      string
	decl      string // the function, method, type, constant or variable that contains it
	pkg       string // the directory of the test's package
	test      string // as for go test -run
	old, with []string
}

// readList reads a list of breaks of the repository in root.
func readList(root, list string) ([]plant, error) {
	text, err := os.ReadFile(filepath.Join(root, list))
	if err != nil {
		return nil, err
	}
	breaks, err := parseList(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", list, err)
	}
	return breaks, nil
}

// parseList parses the text of a list. Lines before the first block are comments.
func parseList(text string) ([]plant, error) {
	var breaks []plant
	for number, line := range strings.Split(text, "\n") {
		if title, ok := strings.CutPrefix(line, "== "); ok {
			breaks = append(breaks, plant{title: title})
			continue
		}
		if len(breaks) == 0 || line == "" {
			continue
		}
		if err := breaks[len(breaks)-1].add(line); err != nil {
			return nil, fmt.Errorf("%d: %w", number+1, err)
		}
	}
	for _, b := range breaks {
		if b.file == "" || b.test == "" || len(b.old) == 0 {
			return nil, fmt.Errorf(" %q needs lines in, test and -", b.title)
		}
	}
	return breaks, nil
}

func (b *plant) add(line string) error {
	words := strings.Fields(line)
	switch key := words[0]; {
	case key == "in" && len(words) == 3:
		b.file, b.decl = words[1], words[2]
	case key == "test" && len(words) == 3:
		b.pkg, b.test = words[1], words[2]
	case line[0] == '-':
		b.old = append(b.old, strings.TrimSpace(line[1:]))
	case line[0] == '+':
		b.with = append(b.with, strings.TrimSpace(line[1:]))
	default:
		return errors.New(`expected "in FILE NAME", "test DIRECTORY TEST", "- old" or "+ new"`)
	}
	return nil
}

// apply returns the text of the break's file with the break applied.
func (b *plant) apply(root string) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(root, b.file))
	if err != nil {
		return nil, err
	}
	start, end, err := find(source, b.decl)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.file, err)
	}
	var lines []string
	for _, line := range b.old {
		lines = append(lines, regexp.QuoteMeta(line))
	}
	places := regexp.MustCompile(strings.Join(lines, `\s*\n\s*`)).FindAllIndex(source[start:end], -1)
	if len(places) != 1 {
		return nil, fmt.Errorf("%s: the old statement occurs %d times in %s, not once", b.file, len(places), b.decl)
	}
	broken := append([]byte{}, source[:start+places[0][0]]...)
	broken = append(broken, strings.Join(b.with, "\n")...)
	return append(broken, source[start+places[0][1]:]...), nil
}

// find returns the offsets of a declaration of the package.
func find(source []byte, name string) (start, end int, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", source, parser.SkipObjectResolution)
	if err != nil {
		return 0, 0, err
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if funcName(d) == name {
				return fset.Position(d.Pos()).Offset, fset.Position(d.End()).Offset, nil
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if declares(spec, name) {
					return fset.Position(spec.Pos()).Offset, fset.Position(spec.End()).Offset, nil
				}
			}
		}
	}
	return 0, 0, fmt.Errorf("no declaration of %s", name)
}

// funcName returns the name of a function. A method is Type.method.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	for {
		switch e := t.(type) {
		case *ast.StarExpr:
			t = e.X
		case *ast.IndexExpr:
			t = e.X
		case *ast.IndexListExpr:
			t = e.X
		case *ast.Ident:
			return e.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}

func declares(spec ast.Spec, name string) bool {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Name.Name == name
	case *ast.ValueSpec:
		for _, ident := range s.Names {
			if ident.Name == name {
				return true
			}
		}
	}
	return false
}

// hasTest reports whether the package has the break's test. It ignores subtests.
func (b *plant) hasTest(root string) (bool, error) {
	files, err := filepath.Glob(filepath.Join(root, b.pkg, "*_test.go"))
	if err != nil {
		return false, err
	}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			return false, err
		}
		if strings.Contains(string(source), "\nfunc "+b.testName()+"(") {
			return true, nil
		}
	}
	return false, nil
}

// testName returns the name of the test without its subtests.
func (b *plant) testName() string {
	name, _, _ := strings.Cut(b.test, "/")
	return name
}
