package forge

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// dictionary renames the members of the one object that a call sends or reads: the settings, or an integration.
type dictionary struct {
	config *config
	kind   string // of the words
	inner  string // the member whose own members are renamed, too
	err    error  // why there are no words for what is meant
}

// in makes the call send and read its object in the words of the client's vocabulary. Options and decoders know the contract's only.
func (r *request) in(d dictionary) *request {
	if r.translate = d.translate; d.err != nil {
		r.err = d.err
	}
	if r.encode != nil {
		r.encode = d.encode
	}
	return r
}

// encode makes a JSON body of json-tagged options. Extra goes as it is: its names were given by hand.
func (d dictionary) encode(options any) (*payload, error) {
	data, err := json.Marshal(options)
	if err == nil {
		if data, err = d.rename(data, d.outward); err != nil {
			return nil, nameOption(options, err)
		}
		data, err = withExtra(options, data)
	}
	return jsonPayload(options, data, err)
}

func (d dictionary) outward(name string) (string, error) {
	if word, known := d.config.word(d.kind, name); known {
		return word, nil
	}
	if isUnnamed(name) {
		return "", unnamed(name, ", in Extra")
	}
	return name, nil
}

// isUnnamed reports whether the contract describes the member without naming it. Settings of the kind have GitLab's names in this
// package, integration parameters the contract's placeholders.
func isUnnamed(name string) bool {
	switch name {
	case "plantuml_enabled", "plantuml_url", "diagramsnet_enabled", "diagramsnet_url", "kroki_enabled", "kroki_url", "jira_connect_application_key",
		"jira_connect_public_key_storage_enabled", "jira_connect_proxy_url", "jira_connect_additional_audience_url":
		return true
	}
	return strings.HasPrefix(name, "<")
}

// translate gives the answer in the contract's words. Of what is not JSON the decoder tells.
func (d dictionary) translate(answer []byte) ([]byte, error) {
	renamed, err := d.rename(answer, d.inward)
	var broken *jsonread.SyntaxError
	if errors.As(err, &broken) {
		return answer, nil
	}
	return renamed, err
}

func (d dictionary) inward(word string) (string, error) {
	if neutral, known := d.config.neutral(d.kind, word); known {
		return neutral, nil
	}
	if d.config.words != nil || d.kind != settingWord {
		return word, nil
	}
	if neutral, known := GitLab.Neutral(settingWord, word); known && neutral != word {
		return "", errors.New("the server speaks GitLab's words (" + word + " for " + neutral + "), so settings would be lost in silence: give the client WithVocabulary(forge.GitLab)")
	}
	return word, nil
}

// rename writes the object with other names for its members. What is no object stays.
func (d dictionary) rename(object []byte, name func(string) (string, error)) ([]byte, error) {
	var r jsonread.Reader
	r.Reset(object)
	if r.Kind() != "object" {
		return object, nil
	}
	out := make([]byte, 0, len(object)+256)
	separator := byte('{')
	for r.Object(); r.Key(); separator = ',' {
		key := string(r.CurrentKey())
		value := r.View()
		renamed, err := name(key)
		if err == nil && key == d.inner {
			value, err = dictionary{config: d.config, kind: d.kind}.rename(value, name)
		}
		if err != nil {
			return nil, err
		}
		quoted, err := json.Marshal(renamed)
		if err != nil {
			return nil, err
		}
		out = append(append(append(append(out, separator), quoted...), ':'), value...)
	}
	if separator == '{' {
		out = append(out, separator)
	}
	return append(out, '}'), r.End()
}
