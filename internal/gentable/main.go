// Gentable writes the tables of the documents that list services, methods or endpoints, each
// between two markers: docs/endpoints.md, the writes of docs/errors-and-retries.md, the permissions
// of docs/credentials.md, and AGENTS.md.
// It reads the methods from the service files in the current directory, and the rest from
// forge.Routes and internal/catalogue. It also writes zz_parameters.go, the query parameters of
// each endpoint. Run go generate after adding an endpoint.
package main

import (
	"cmp"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/gosource"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gentable: ")
	files, err := generate(".")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// generate returns the generated files of the package in dir, by name.
func generate(dir string) (map[string]string, error) {
	services, err := gosource.Services(dir)
	if err != nil {
		return nil, err
	}
	files := map[string]string{"zz_parameters.go": string(parameterTable())}
	for name, table := range map[string]string{
		"docs/endpoints.md endpoints":       endpointTable(services),
		"docs/errors-and-retries.md writes": writeTable(services),
		"docs/credentials.md permissions":   permissionTable(services),
		"AGENTS.md services":                serviceTable(services),
	} {
		name, topic, _ := strings.Cut(name, " ")
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if files[name], err = splice(string(text), topic, table); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
}

// splice replaces the text between the markers of a topic with the table.
func splice(text, topic, table string) (string, error) {
	begin, end := "<!-- "+topic+": made by go generate -->\n", "<!-- end of "+topic+" -->\n"
	before, rest, found := strings.Cut(text, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", fmt.Errorf("it lacks the markers %q and %q", begin, end)
	}
	return before + begin + table + end + after, nil
}

// requests returns the methods that request an endpoint.
func requests(services []gosource.Service) (methods []gosource.Method) {
	for _, s := range services {
		methods = append(methods, slices.DeleteFunc(slices.Clone(s.Methods), func(m gosource.Method) bool { return m.Verb == "" })...)
	}
	return methods
}

// route returns the row of the route table for a method; a zero Route if there is none.
func route(m gosource.Method) (row forge.Route) {
	for _, r := range forge.Routes() {
		if r.Method == m.Verb && r.Template == m.Template {
			row = r
		}
	}
	return row
}

func endpointTable(services []gosource.Service) string {
	var b strings.Builder
	b.WriteString("| service | method | endpoint | pages | docs |\n|---|---|---|---|---|\n")
	last := ""
	for _, m := range requests(services) {
		service := m.Service
		if service == last {
			service = ""
		}
		last = m.Service
		r := route(m)
		page := strings.TrimPrefix(r.Docs, "https://docs.gitlab.com/api/")
		fmt.Fprintf(&b, "| %s | `%s` | `%s %s` | %s | [%s](%s) |\n", service, m.Name, m.Verb, m.Template, r.Pagination, strings.Trim(page, "/"), r.Docs)
	}
	return b.String()
}

// permissionTable returns a row for each permission, or set of them, with the methods that need it.
func permissionTable(services []gosource.Service) string {
	var order []string
	methods := map[string][]string{}
	for _, m := range requests(services) {
		permissions := strings.Join(strings.Fields(route(m).Permissions), "`, `")
		if permissions == "" {
			continue
		}
		if methods[permissions] == nil {
			order = append(order, permissions)
		}
		methods[permissions] = append(methods[permissions], "`"+m.Service+"."+m.Name+"`")
	}
	var b strings.Builder
	b.WriteString("| permissions | methods of the client |\n|---|---|\n")
	for _, permissions := range order {
		fmt.Fprintf(&b, "| `%s` | %s |\n", permissions, strings.Join(methods[permissions], ", "))
	}
	return b.String()
}

// writeTable returns a row for each write: what the catalogue has about it, or what follows from
// its route.
func writeTable(services []gosource.Service) string {
	var b strings.Builder
	b.WriteString("| method | endpoint | class | shows whether it took effect | if it is sent again |\n|---|---|---|---|---|\n")
	outcomes, endpoints := catalogue.Outcomes(), map[string]catalogue.Endpoint{}
	for _, e := range catalogue.Endpoints() {
		endpoints[e.Method+" "+e.Path] = e
	}
	methods := requests(services)
	for _, m := range methods {
		r, e := route(m), endpoints[m.Verb+" "+m.Template]
		if !m.Plain || r.Class == forge.RetryClassSafe {
			continue
		}
		o, unchanged := outcomes[e.ID], e.HasRule("no_op")
		again, shownBy := "the state stays the same", "no method reads it: send it again"
		switch {
		case m.Verb == "DELETE":
			again = "`forge.ErrNotFound`"
		case unchanged:
			again = "`forge.ErrNotModified`"
			shownBy += "; success and `forge.ErrNotModified` both mean that the state is the wanted one"
		case r.Class == forge.RetryClassNonIdempotent:
			again, shownBy = "takes effect again", "no method reads it"
		}
		i := slices.IndexFunc(methods, func(read gosource.Method) bool { return read.Verb == "GET" && read.Template == m.Template })
		if i >= 0 {
			shows := map[string]string{"DELETE": "`forge.ErrNotFound`", "PUT": "the values", "POST": "it has the object"}
			shownBy = "`client." + m.Service + "." + methods[i].Name + "`: " + shows[m.Verb]
		}
		fmt.Fprintf(&b, "| `client.%s` | `%s %s` | %s | %s | %s |\n", cmp.Or(o.Method, m.Service+"."+m.Name), m.Verb, m.Template, r.Class,
			cmp.Or(o.ShownBy, shownBy), cmp.Or(o.Again, again))
	}
	return b.String()
}

func serviceTable(services []gosource.Service) string {
	var b strings.Builder
	b.WriteString("| field | what it does | methods |\n|---|---|---|\n")
	for _, s := range services {
		var methods []string
		for _, m := range s.Methods {
			var notes []string
			for _, name := range m.Types {
				notes = append(notes, "`"+name+"`")
			}
			if m.Deprecated {
				notes = append(notes, "deprecated")
			}
			text := "`" + m.Name + "`"
			if len(notes) > 0 {
				text += " (" + strings.Join(notes, ", ") + ")"
			}
			methods = append(methods, text)
		}
		doc := strings.TrimPrefix(strings.Join(strings.Fields(s.Doc), " "), s.Name+" ")
		doc = strings.TrimSuffix(doc, ".")
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, doc, strings.Join(methods, ", "))
	}
	return b.String()
}
