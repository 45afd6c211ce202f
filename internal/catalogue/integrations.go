package catalogue

import (
	"cmp"
	"strings"
	"sync"
)

// Integration is a kind of integration in integrations.json, from which internal/gensettings makes
// its constant and its options. forgetest reads those that the documents lack.
type Integration struct {
	Slug     string // the path segment
	Go       string // of Asana: IntegrationAsana, AsanaOptions
	Neutral  string // the documents' label; empty for a kind beyond them
	Does     string // what it does, in the comment of the constant
	Doc      string // the comment of the options after the name
	FieldsOf string `json:"fields_of"` // the kind that has the same parameters
	Params   []IntegrationParam
}

// IntegrationParam is a parameter of a kind. Without a type it is a common one.
type IntegrationParam struct {
	Name       string
	Neutral    string // the documents' placeholder, if they do not name it
	Type       string // in Go, without pointer
	Required   bool
	Beyond     bool // the documents have the kind, and not the parameter
	Doc        string
	Deprecated string
}

// Integrations returns the kinds, sorted by slug, all with their parameters.
var Integrations = sync.OnceValue(func() []Integration {
	var all struct {
		Common map[string]IntegrationParam
		Kinds  []Integration
	}
	Read("integrations.json", &all)
	own := map[string][]IntegrationParam{}
	for _, kind := range all.Kinds {
		for i, p := range kind.Params {
			if common := all.Common[p.Name]; p.Type == "" {
				kind.Params[i].Type, kind.Params[i].Doc, kind.Params[i].Deprecated = common.Type, common.Doc, common.Deprecated
			}
		}
		own[kind.Slug] = kind.Params
	}
	for i, kind := range all.Kinds {
		all.Kinds[i].Params = own[cmp.Or(kind.FieldsOf, kind.Slug)]
	}
	return all.Kinds
})

// Kind is a kind of integration that the documents describe.
type Kind struct {
	ID     string
	Slug   string
	Params []Param
}

// Kinds returns the kinds of integrations of the documents. Their parameters have GitLab's names,
// also where the documents have placeholders.
func Kinds() []Kind {
	return Endpoints()["integrations.set"].Kinds
}

// IntegrationWords returns GitLab's words for the placeholders of each kind, and for "slug".
var IntegrationWords = sync.OnceValue(func() map[string]map[string]string {
	words := map[string]map[string]string{}
	for _, kind := range Integrations() {
		if kind.Neutral == "" {
			continue
		}
		words[kind.Neutral] = map[string]string{"slug": kind.Slug}
		for _, p := range kind.Params {
			if strings.HasPrefix(p.Neutral, "<") {
				words[kind.Neutral][p.Neutral] = p.Name
			}
		}
	}
	return words
})

// showNames replaces the placeholders of the documents by GitLab's names.
func (k Kind) showNames() {
	for i, p := range k.Params {
		if word := IntegrationWords()[k.ID][p.Name]; word != "" {
			k.Params[i].Name, k.Params[i].Wire = word, word
		}
	}
}
