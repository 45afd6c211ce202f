package forge

import (
	"errors"
	"maps"
	"slices"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// ofSettings makes the call send and read settings in the client's words. Options and response
// types have GitLab's words only.
func (r *request) ofSettings() *request {
	r.settings = true
	if r.encode != nil && r.core.config.vocabulary == Neutral {
		r.encode = encodeNeutral
	}
	return r
}

// encodeNeutral returns the JSON body of settings. The keys of Extra are the caller's own.
func encodeNeutral(options any) (*payload, error) {
	data, err := marshalFields(options)
	if err == nil {
		data, err = renameKeys(data, func(name string) (string, error) {
			word, named := Neutral.wire(settingWord, name)
			if !named {
				return "", unnamed(name, ", in Extra")
			}
			return word, nil
		})
	}
	if err == nil {
		data, err = withExtra(options, data)
	}
	return newJSONPayload(options, data, err)
}

// translateSettings returns a response of settings in GitLab's words. Invalid JSON is returned
// unchanged; the decoder reports it.
func (v Vocabulary) translateSettings(body []byte) ([]byte, error) {
	own, others := words().gitlab[settingWord], words().neutral[settingWord]
	use, option := "GitLab's words", "without WithVocabulary(forge.Neutral)"
	if v == GitLab {
		own, others = nil, own
		use, option = "the documents' words", "with WithVocabulary(forge.Neutral)"
	}
	var r jsonread.Reader
	if r.Reset(body); r.Kind() != "object" {
		return body, nil
	}
	for r.Object(); r.Key(); r.Skip() {
		if word := others[string(r.CurrentKey())]; word != "" {
			return nil, errors.New("the server uses " + use + " (" + string(r.CurrentKey()) + " for " + word + "), so settings would be lost silently: create the client " + option)
		}
	}
	if valid := r.End() == nil; v == GitLab || !valid {
		return body, nil
	}
	return renameKeys(body, func(word string) (string, error) {
		if gitlab := own[word]; gitlab != "" {
			return gitlab, nil
		}
		return word, nil
	})
}

// checkWords rejects what a caller has given by a name of the other vocabulary: keys of Extra, and
// parameters of the query.
func (r *request) checkWords(s *callOptions) error {
	v := r.core.config.vocabulary
	if o, is := r.body.(extender); is && r.settings {
		for _, name := range slices.Sorted(maps.Keys(o.extra())) {
			if reason := v.foreign(settingWord, name); reason != "" {
				return &ValidationError{Option: optionsName(r.body) + ".Extra", Param: name, Reason: reason}
			}
		}
	}
	for name, values := range s.query {
		reason := ""
		switch {
		case r.settings:
			reason = v.foreign(settingWord, name)
		case name == entityWord && !r.custom:
			reason = v.foreignIn(values)
		}
		if reason != "" {
			return &ValidationError{Option: "Query", Param: name, Reason: reason}
		}
	}
	return nil
}

// foreignIn is foreign for entity types.
func (v Vocabulary) foreignIn(types []string) string {
	for _, t := range types {
		if reason := v.foreign(entityWord, t); reason != "" {
			return reason
		}
	}
	return ""
}

// renameKeys returns the object with other names for its keys. Values that are not objects are
// returned unchanged.
func renameKeys(object []byte, name func(string) (string, error)) ([]byte, error) {
	var r jsonread.Reader
	r.Reset(object)
	if r.Kind() != "object" {
		return object, nil
	}
	w := valueWriter{text: append(make([]byte, 0, len(object)+256), '{')}
	for r.Object(); r.Key(); {
		renamed, err := name(r.KeyText())
		if err != nil {
			return nil, err
		}
		w.key(renamed)
		w.text = append(w.text, r.View()...)
	}
	return append(w.text, '}'), r.End()
}
