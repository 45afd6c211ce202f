package main

import (
	"cmp"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// resultKind is what a method returns.
type resultKind string

const (
	noResult   resultKind = "nothing"
	oneResult  resultKind = "one"
	listResult resultKind = "list"
	fileResult resultKind = "file"
)

// operation is an endpoint as the rules and the corrections see it.
type operation struct {
	*endpoint
	Tag        string // of the endpoint, or of a correction
	Service    string // Go name of the tag
	Name       string // of the method
	TypeName   string // the options are TypeName + "Options"
	Result     resultKind
	Fix        correction
	Params     []*param
	File       *param   // required: an argument
	Files      []*param // optional: one of them can be sent
	Pagination string
	candidates []methodName
	response   *openapi3.SchemaRef // of the value, or of an item
	status     string              // of the response
	media      []string            // of the response
	multipart  bool                // the body is declared as a form with a file
	bodyType   *openapi3.SchemaRef // of a body that is not an object
}

// param is a parameter that is not in the path.
type param struct {
	Wire     string // its name in the document
	Schema   *openapi3.SchemaRef
	Required bool
	InBody   bool
	Text     string // its description
}

// isFile reports whether the parameter is the content of a file.
func (p *param) isFile() bool {
	s := p.Schema.Value
	return s != nil && (s.Format == "binary" || s.Type.Is("file"))
}

// operations reads all endpoints, and applies the rules, then the corrections.
func operations(all []*endpoint, fixes map[string]correction) []*operation {
	ops := make([]*operation, len(all))
	for i, e := range all {
		op := &operation{endpoint: e, Fix: fixes[e.key()]}
		op.readResponse()
		op.readParams()
		for _, r := range rules {
			if r.operation != nil && !slices.Contains(op.Fix.Without, r.Name) {
				r.operation(op)
			}
		}
		op.Result = cmp.Or(resultKind(op.Fix.Returns), op.Result)
		op.Pagination = cmp.Or(op.Fix.Pagination, op.Pagination)
		op.Tag = cmp.Or(op.Fix.Service, e.Tag)
		op.Service = camel(op.Tag)
		op.candidates = op.names()
		ops[i] = op
	}
	assignNames(ops)
	return ops
}

// readResponse finds the response of a success, as documented.
func (op *operation) readResponse() {
	op.Result = noResult
	responses := op.op.Responses.Map()
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		response := responses[status].Value
		if !strings.HasPrefix(status, "2") || response == nil {
			continue
		}
		op.status = cmp.Or(op.status, status)
		for _, media := range slices.Sorted(maps.Keys(response.Content)) {
			op.media = append(op.media, media)
			if schema := response.Content[media].Schema; schema != nil && op.response == nil {
				op.response, op.status = schema, status
			}
		}
	}
	if op.response == nil || op.status == "204" || op.Method == http.MethodHead {
		return
	}
	op.Result = oneResult
	if s := op.response.Value; op.Method == http.MethodGet && s != nil && s.Type.Is("array") {
		op.Result, op.response = listResult, s.Items
	}
}

// readParams reads the query and the body.
func (op *operation) readParams() {
	inPath := map[string]bool{}
	for _, part := range op.parts {
		for _, piece := range part {
			inPath[piece.text] = inPath[piece.text] || piece.placeholder
		}
	}
	known := map[string]bool{}
	add := func(p *param) {
		if !inPath[p.Wire] && !known[p.Wire] && p.Schema != nil && p.Schema.Value != nil {
			known[p.Wire] = true
			op.Params = append(op.Params, p)
		}
	}
	op.readBody(add)
	for _, ref := range op.params {
		if p := ref.Value; p != nil && p.In == "query" {
			add(&param{Wire: p.Name, Schema: p.Schema, Required: p.Required, Text: p.Description})
		}
	}
	slices.SortFunc(op.Params, func(a, b *param) int {
		switch {
		case a.Required && !b.Required:
			return -1
		case b.Required && !a.Required:
			return 1
		}
		return strings.Compare(a.Wire, b.Wire)
	})
}

func (op *operation) readBody(add func(*param)) {
	if op.op.RequestBody == nil || op.op.RequestBody.Value == nil {
		return
	}
	content := op.op.RequestBody.Value.Content
	for _, media := range slices.Sorted(maps.Keys(content)) {
		schema := content[media].Schema
		if schema == nil || schema.Value == nil {
			continue
		}
		kind, _, _ := mime.ParseMediaType(media)
		op.multipart = op.multipart || kind == "multipart/form-data"
		properties := propertiesOf(schema.Value)
		if len(properties) == 0 && !schema.Value.Type.Is("object") {
			op.bodyType = schema
		}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			property := properties[name]
			add(&param{Wire: name, Schema: property, Required: slices.Contains(schema.Value.Required, name), InBody: true, Text: description(property)})
		}
	}
}

// propertiesOf returns the fields of an object, with those of allOf, oneOf and anyOf.
func propertiesOf(s *openapi3.Schema) openapi3.Schemas {
	all := openapi3.Schemas{}
	for _, refs := range []openapi3.SchemaRefs{s.AllOf, s.OneOf, s.AnyOf} {
		for _, ref := range refs {
			if ref.Value != nil {
				maps.Copy(all, propertiesOf(ref.Value))
			}
		}
	}
	maps.Copy(all, s.Properties)
	return all
}

func description(schema *openapi3.SchemaRef) string {
	if schema == nil || schema.Value == nil {
		return ""
	}
	return cmp.Or(schema.Value.Description, schema.Value.Title)
}

// drop removes parameters.
func (op *operation) drop(unwanted func(*param) bool) {
	op.Params = slices.DeleteFunc(op.Params, unwanted)
}

func (op *operation) has(wire string) bool {
	return slices.ContainsFunc(op.Params, func(p *param) bool { return p.Wire == wire })
}
