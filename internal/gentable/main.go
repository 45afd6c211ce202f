// Gentable writes the table of services, methods and endpoints between the two markers of
// docs/endpoints.md. It reads the methods from the service files in the current directory and the
// rest from forge.Routes. It also writes zz_parameters.go, the query parameters of each endpoint,
// from the catalogue in internal/catalogue. Run go generate after adding an endpoint.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"slices"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/gosource"
)

const (
	guide = "docs/endpoints.md"

	begin = "<!-- endpoints: made by go generate -->\n"
	end   = "<!-- end of endpoints -->\n"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gentable: ")
	methods, err := gosource.Methods(".")
	if err != nil {
		log.Fatal(err)
	}
	endpoints, err := os.ReadFile(guide)
	if err != nil {
		log.Fatal(err)
	}
	if endpoints, err = splice(endpoints, markdown(methods)); err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string][]byte{guide: endpoints, "zz_parameters.go": parameterTable()} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
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

// markdown returns the table of the guide.
func markdown(methods []gosource.Method) []byte {
	var b bytes.Buffer
	b.WriteString("| service | method | endpoint | contract |\n|---|---|---|---|\n")
	last := ""
	for _, m := range methods {
		service := m.Service
		if service == last {
			service = ""
		}
		last = m.Service
		fmt.Fprintf(&b, "| %s | `%s` | `%s %s` | %s |\n", service, m.Name, m.Verb, m.Template, route(m).Section)
	}
	return b.Bytes()
}

// splice replaces the text between the markers with the table.
func splice(text, table []byte) ([]byte, error) {
	before, rest, found := bytes.Cut(text, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		return nil, fmt.Errorf("%s lacks the markers %q and %q", guide, begin, end)
	}
	return slices.Concat(before, []byte(begin), table, []byte(end), after), nil
}
