// Package catalogue has the contract as data, once: endpoints.json and types.json have what the
// three documents specify, deployed.json what GitLab's public documentation and deployed servers
// have beyond them, settings.json the settings with their names and comments in Go, words.json
// GitLab's names of the others, pages.json the page of each service at docs.gitlab.com.
// Generators, the tests and forgetest read it; the client does not.
package catalogue

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

//go:embed *.json
var files embed.FS

// Read decodes one of the files. It panics if the file does not exist or does not fit.
func Read(name string, into any) {
	data, err := files.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		panic(fmt.Sprintf("catalogue: %s: %v", name, err))
	}
}

// Rows returns the rows of all endpoints in the form of the caller, those of the documents first.
// Rows with the status "not shown" are operations that the documents name and do not describe.
func Rows[E any]() []E {
	var documented []E
	Read("endpoints.json", &documented)
	var deployed struct{ Endpoints []E }
	Read("deployed.json", &deployed)
	return append(documented, deployed.Endpoints...)
}

// Types returns the types of responses in the form of the caller, by name. Those of the documents
// lack the fields that Fields returns.
func Types[T any]() map[string]T {
	var types map[string]T
	Read("types.json", &types)
	var deployed struct{ Types map[string]T }
	Read("deployed.json", &deployed)
	maps.Copy(types, deployed.Types)
	return types
}

// Fields returns the fields of deployed servers that the documents lack, or to which they give
// another type, by type. Those of the settings are in settings.json.
func Fields[F any]() map[string][]F {
	var deployed struct{ Fields map[string][]F }
	Read("deployed.json", &deployed)
	var settings []F
	if err := json.Unmarshal(settingsBeyond(), &settings); err != nil {
		panic(fmt.Sprintf("catalogue: settings.json: %v", err))
	}
	if len(settings) > 0 {
		deployed.Fields["ApplicationSettings"] = settings
	}
	return deployed.Fields
}

// Beyond are query parameters that deployed servers accept on a list that documents others.
type Beyond[P any] struct {
	Own        []P      // their rows
	From       string   // the endpoint that documents those below
	Query, Not []string // names of its parameters, and of keys of its hash not
	Ignored    []string // those that forgetest ignores
}

// Parameters returns the query parameters of deployed servers by the endpoint's id.
func Parameters[P any]() map[string]Beyond[P] {
	var deployed struct{ Parameters map[string]Beyond[P] }
	Read("deployed.json", &deployed)
	return deployed.Parameters
}

// Deployed returns the wire names of the query parameters that deployed servers accept beyond the
// documents, by the endpoint's id.
func Deployed() map[string][]string {
	names := map[string][]string{}
	for id, more := range Parameters[Param]() {
		all := slices.Concat(more.Query, more.Ignored)
		for _, p := range more.Own {
			all = append(all, p.Wire)
		}
		for _, key := range more.Not {
			all = append(all, "not["+key+"]")
		}
		names[id] = all
	}
	return names
}

// Dropped returns the filters that current servers drop silently, so that the list is not filtered:
// the first release that is known to do so, by the endpoint's id and the wire name.
func Dropped() map[string]map[string]string {
	var deployed struct{ Dropped map[string]map[string]string }
	Read("deployed.json", &deployed)
	return deployed.Dropped
}

// Permissions returns the permissions that a fine-grained token needs, separated by spaces, by the
// endpoint's id, where GitLab's source or documentation shows them.
func Permissions() map[string]string {
	var deployed struct{ Permissions map[string]string }
	Read("deployed.json", &deployed)
	return deployed.Permissions
}

// Outcome describes a write whose response was lost. An empty field follows from the endpoint.
type Outcome struct {
	Method  string // the typed method, if it is not the one that requests the endpoint
	ShownBy string `json:"shown_by"` // the call that shows whether the write took effect
	Again   string // what a server does if it is sent again
}

// Outcomes returns the outcomes of writes by the endpoint's id.
func Outcomes() map[string]Outcome {
	var deployed struct{ Writes map[string]Outcome }
	Read("deployed.json", &deployed)
	return deployed.Writes
}
