package main

import (
	"fmt"
	"net/http"
	"strings"
)

// method returns the Go form of an operation.
func (b *builder) method(op *operation) (*method, error) {
	m := &method{operation: op, Args: pathArguments(op)}
	if op.bodyType != nil {
		typ := b.goType(op.bodyType, place{owner: op.TypeName + "Body"})
		m.Body = &argument{Name: "body", Type: strings.TrimPrefix(typ, "*")}
	}
	if err := b.options(m); err != nil {
		return nil, err
	}
	return m, b.result(m)
}

// result sets the value that is returned.
func (b *builder) result(m *method) (err error) {
	if m.Result != oneResult && m.Result != listResult {
		return nil
	}
	if m.Fix.Response == "" {
		m.Value = b.goType(m.response, place{owner: m.TypeName + "Response", reads: true})
	} else if m.Value, err = b.givenType(m.Fix.Response); err != nil {
		return fmt.Errorf("corrections: response: %w", err)
	}
	m.Value = strings.TrimPrefix(m.Value, "*")
	m.Pointer = !strings.HasPrefix(m.Value, "[]") && !strings.HasPrefix(m.Value, "map[") && m.Value != "json.RawMessage"
	return nil
}

// pathArguments returns the arguments for the placeholders.
func pathArguments(op *operation) (args []argument) {
	used := map[string]bool{}
	for i, part := range op.parts {
		if part.fixed() != "" {
			continue
		}
		before := ""
		if i > 0 {
			before = op.parts[i-1].fixed()
		}
		if len(part) == 1 {
			args = append(args, pathArgument(op, part[0].text, before, used))
			continue
		}
		args = append(args, joinedArguments(part, used)...)
	}
	return args
}

// scopes are parts of paths after which a placeholder is an id or a path.
var scopes = map[string]string{"projects": "project", "groups": "group", "group": "group", "namespaces": "namespace"}

func pathArgument(op *operation, name, before string, used map[string]bool) argument {
	short := name
	if scopes[before] != "" && (name == "id" || strings.HasSuffix(name, "_id")) {
		return unique(argument{Name: scopes[before], Type: "forge.Ref"}, name, used)
	}
	if isID(name) && before != "" {
		short = singular(before)
	}
	if op.pathType(name) == "integer" {
		return unique(argument{Name: argumentName(short), Type: "int64", Expr: "forge.ID(%s)"}, name, used)
	}
	return unique(argument{Name: argumentName(short), Type: "string", Expr: "forge.Text(%s)"}, name, used)
}

// unique completes an argument, with its full name if the short one is used.
func unique(a argument, full string, used map[string]bool) argument {
	if used[a.Name] {
		a.Name = argumentName(full)
	}
	for used[a.Name] {
		a.Name += "2"
	}
	used[a.Name] = true
	if a.Expr == "" {
		a.Expr = a.Name
	} else {
		a.Expr = fmt.Sprintf(a.Expr, a.Name)
	}
	return a
}

// joinedArguments are those of a part with texts and placeholders, such as {version}.info: the
// first has the text of the whole part.
func joinedArguments(part pathPart, used map[string]bool) (args []argument) {
	var texts []string
	for _, piece := range part {
		if !piece.placeholder {
			texts = append(texts, fmt.Sprintf("%q", piece.text))
			continue
		}
		a := unique(argument{Name: argumentName(piece.text), Type: "string"}, piece.text, used)
		texts = append(texts, a.Name)
		a.Expr = ""
		args = append(args, a)
	}
	args[0].Expr = "forge.Text(" + strings.Join(texts, " + ") + ")"
	return args
}

// pathType returns the declared type of a placeholder. The documents do not declare all; an IID is
// an integer.
func (op *operation) pathType(name string) string {
	declared := false
	for _, ref := range op.params {
		if p := ref.Value; p != nil && p.In == "path" && p.Name == name && p.Schema != nil && p.Schema.Value != nil {
			if declared = true; p.Schema.Value.Type.Is("integer") {
				return "integer"
			}
		}
	}
	if !declared && strings.HasSuffix(name, "iid") {
		return "integer"
	}
	return "string"
}

// options makes the struct of the parameters.
func (b *builder) options(m *method) error {
	for _, p := range m.Params {
		m.HasQuery, m.HasBody = m.HasQuery || !p.InBody, m.HasBody || p.InBody
	}
	if len(m.Params) == 0 && len(m.Files) == 0 {
		return nil
	}
	m.Options = &structType{Name: m.TypeName + "Options", Says: "are the parameters of " + m.Name + "."}
	used := map[string]bool{}
	for wire := range m.Fix.Types {
		if !m.has(wire) {
			return fmt.Errorf("corrections: types: the document has no parameter %s", wire)
		}
	}
	for _, p := range m.Params {
		f, err := b.optionField(m, p, used)
		if err != nil {
			return fmt.Errorf("corrections: types: %s: %w", p.Wire, err)
		}
		m.Options.Fields = append(m.Options.Fields, f)
	}
	if len(m.Files) > 0 {
		var names []string
		for _, p := range m.Files {
			names = append(names, p.Wire)
		}
		if len(names) > 1 {
			m.Options.Fields = append(m.Options.Fields, &field{Name: fieldName("FileField", used), Type: "string", Tag: "`json:\"-\" url:\"-\"`",
				Says: "The parameter that File is sent as: " + strings.Join(names, ", ") + "."})
		}
		m.FileName = "File"
		if len(names) == 1 {
			m.FileName = camel(names[0])
		}
		m.FileName = fieldName(m.FileName, used)
		m.Options.Fields = append(m.Options.Fields, &field{Name: m.FileName, Type: "*forge.File", Tag: "`json:\"-\" url:\"-\"`", Says: "The content of the file; nil sends none."})
	}
	return nil
}

func (b *builder) optionField(m *method, p *param, used map[string]bool) (f *field, err error) {
	typ := b.goType(p.Schema, place{owner: m.TypeName, wire: p.Wire, query: !p.InBody || m.multipart, short: enumName(m.operation, p), says: "is a value of " + p.Wire + "."})
	f = &field{Name: fieldName(p.Wire, used), Type: m.optional(p, typ), Says: sentence(p.Text)}
	if fix := m.Fix.Types[p.Wire]; fix != "" {
		if typ, err = b.givenType(fix); err != nil {
			return nil, err
		}
		f.Type = typ
	}
	if p.Required {
		f.Says = strings.TrimSpace(f.Says + " Required.")
	}
	url, json := "-", "-"
	if !p.InBody || m.multipart {
		url = p.Wire + urlOptions(typ)
	}
	if p.InBody {
		json = p.Wire
		if zeroIsSent := p.Required && (typ == "bool" || typ == "float64" || typ == "int64"); !zeroIsSent {
			json += "," + omission(typ)
		}
	}
	f.Tag = tagOf(url, json, m)
	return f, nil
}

// optional returns the type of a parameter: a pointer where the zero value has a meaning. In a
// change 0 and the empty text clear a value; elsewhere no id is 0.
func (m *method) optional(p *param, typ string) string {
	changes := p.InBody && (m.Method == http.MethodPut || m.Method == http.MethodPatch)
	switch {
	case p.Required && p.InBody && !m.multipart: // it is always sent
	case typ == "bool", typ == "float64", typ == "int64" && (changes || !isID(p.Wire)), typ == "string" && changes && !p.Required:
		return "*" + typ
	}
	return typ
}

// tagOf returns the tags that are needed: a struct whose fields are all in the body has no url
// tags.
func tagOf(url, json string, m *method) string {
	var tags []string
	if m.HasQuery || m.multipart {
		tags = append(tags, fmt.Sprintf("url:%q", url))
	}
	if m.HasBody && m.File == nil {
		tags = append(tags, fmt.Sprintf("json:%q", json))
	}
	return "`" + strings.Join(tags, " ") + "`"
}

// urlOptions are the options of a url tag. A list has brackets after its name.
func urlOptions(typ string) string {
	if strings.HasPrefix(typ, "[]") {
		return ",brackets,omitempty"
	}
	return ",omitempty"
}
