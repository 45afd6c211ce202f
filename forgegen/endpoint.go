package main

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// endpoint is an operation of the document.
type endpoint struct {
	Method string
	Path   string // below /api/v4, as in the document
	Tag    string
	parts  []pathPart
	op     *openapi3.Operation
	params openapi3.Parameters // with those of the path
}

// pathPart is a part of a path between slashes: texts and placeholders.
type pathPart []pathPiece

type pathPiece struct {
	text        string
	placeholder bool // text is its name
}

// fixed returns the text of a part without placeholders; "" if it has one.
func (p pathPart) fixed() string {
	if len(p) == 1 && !p[0].placeholder {
		return p[0].text
	}
	return ""
}

func (p pathPart) variable() bool { return p.fixed() == "" }

// routeName is the placeholder of a part in a route of forge, which has letters and underscores
// only.
func (p pathPart) routeName() string {
	var names []string
	for _, piece := range p {
		if piece.placeholder {
			names = append(names, notPlaceholder.ReplaceAllString(strings.ToLower(piece.text), ""))
		}
	}
	return cmp.Or(strings.Trim(strings.Join(names, "_"), "_"), "value")
}

var (
	optionalPart   = regexp.MustCompile(`\((?:[^()\\]|\\.)*/\)|\(/\)|\(\*[a-z_]+\)`)
	placeholders   = regexp.MustCompile(`\{\*?(\w+)\}|[*:](\w+)`)
	notPlaceholder = regexp.MustCompile(`[^a-z_]`)
)

// Route returns the route as forge spells it.
func (e *endpoint) Route() string {
	var b strings.Builder
	for _, part := range e.parts {
		if b.WriteByte('/'); part.variable() {
			b.WriteString(":" + part.routeName())
		} else {
			b.WriteString(part.fixed())
		}
	}
	return b.String()
}

// String returns method and route.
func (e *endpoint) String() string { return e.Method + " " + e.Route() }

// key identifies the endpoint, without the names of its placeholders.
func (e *endpoint) key() string { return e.Method + " " + shapeOf(e.parts) }

// shapeOf returns a path without the names of its placeholders.
func shapeOf(parts []pathPart) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteByte('/')
		for _, piece := range part {
			if piece.placeholder {
				b.WriteByte(':')
			} else {
				b.WriteString(piece.text)
			}
		}
	}
	return b.String()
}

// splitPath reads a path of the document, or one that a user wrote: /projects/{id}, /projects/:id
// and /packages/*name. Optional parts are omitted.
func splitPath(path string) (parts []pathPart) {
	path = strings.NewReplacer(`\(`, "(", `\)`, ")").Replace(optionalPart.ReplaceAllString(path, ""))
	for text := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		part, end := pathPart{}, 0
		for _, at := range placeholders.FindAllStringSubmatchIndex(text, -1) {
			if at[0] > end {
				part = append(part, pathPiece{text: text[end:at[0]]})
			}
			from, to := at[2], at[3]
			if from < 0 {
				from, to = at[4], at[5]
			}
			part, end = append(part, pathPiece{text: text[from:to], placeholder: true}), at[1]
		}
		if end < len(text) {
			part = append(part, pathPiece{text: text[end:]})
		}
		parts = append(parts, part)
	}
	return parts
}

// endpoints returns all operations, in the order of path and method.
func (d *document) endpoints() []*endpoint {
	var all []*endpoint
	base := d.basePath()
	for path, item := range d.spec.Paths.Map() {
		path = strings.TrimPrefix(base+path, "/api/v4")
		for method, op := range item.Operations() {
			if !slices.Contains(methods, method) {
				continue
			}
			e := &endpoint{Method: method, Path: path, parts: splitPath(path), op: op, Tag: "api"}
			if len(op.Tags) > 0 {
				e.Tag = op.Tags[0]
			}
			e.params = append(slices.Clone(op.Parameters), item.Parameters...)
			all = append(all, e)
		}
	}
	tags := map[string]string{}
	for _, e := range all {
		tags[snake(e.Tag)] = e.Tag
	}
	for _, e := range all {
		for _, r := range rules {
			if r.tag != nil {
				e.Tag = cmp.Or(r.tag(e, tags), e.Tag)
			}
		}
	}
	slices.SortFunc(all, func(a, b *endpoint) int {
		return cmp.Or(strings.Compare(a.key()[len(a.Method):], b.key()[len(b.Method):]), strings.Compare(a.Method, b.Method), strings.Compare(a.Path, b.Path))
	})
	return slices.CompactFunc(all, func(a, b *endpoint) bool { return a.key() == b.key() })
}

// basePath is the path of the first server: the paths of some documents begin below /api/v4.
func (d *document) basePath() string {
	if len(d.spec.Servers) == 0 {
		return ""
	}
	address := d.spec.Servers[0].URL
	if _, after, found := strings.Cut(address, "://"); found {
		_, address, _ = strings.Cut(after, "/")
	}
	if address = strings.Trim(address, "/"); address == "" {
		return ""
	}
	return "/" + address
}

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
