package forge

import (
	"errors"
	"strings"
	"sync"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// renamer renames the keys of the one object that a call sends or reads: the settings, or an
// integration.
type renamer struct {
	words *words
	kind  string // of the words
	inner string // key of an object whose keys are renamed too; empty if there is no such object
	err   error  // the integration has no name
}

// withVocabulary makes the call send and read its object in the words of the client's vocabulary.
// Options and decoders use the contract's words only.
func (r *request) withVocabulary(n renamer) *request {
	if r.translate = n.translate; n.err != nil {
		r.err = n.err
	}
	if r.encode != nil {
		r.encode = n.encode
	}
	return r
}

// encode returns the JSON body of json-tagged options. Extra is not renamed: callers name its keys
// themselves.
func (n renamer) encode(options any) (*payload, error) {
	data, err := marshalCallers(options)
	if err == nil {
		if data, err = n.rename(data, n.toProduct); err != nil {
			return nil, nameOption(options, err)
		}
		data, err = withExtra(options, data)
	}
	return newJSONPayload(options, data, err)
}

// toProduct returns the name under which a key is sent. Settings that the contract describes
// without a name have GitLab's in this package, and such parameters of integrations have the
// contract's placeholders.
func (n renamer) toProduct(name string) (string, error) {
	if word, known := n.words.word(n.kind, name); known {
		return word, nil
	}
	if strings.HasPrefix(name, "<") || n.kind == settingWord && settingNamed(name, nil).isUnnamed {
		return "", unnamed(name, ", in Extra")
	}
	return name, nil
}

// translate returns the response in the contract's words. Invalid JSON is returned unchanged; the
// decoder reports it.
func (n renamer) translate(body []byte) ([]byte, error) {
	if n.words == nil {
		return body, n.checkWords(body)
	}
	renamed, err := n.rename(body, func(word string) (string, error) {
		neutral, known := n.words.neutral(n.kind, word)
		if !known {
			return word, nil
		}
		return neutral, nil
	})
	var broken *jsonread.SyntaxError
	if errors.As(err, &broken) {
		return body, nil
	}
	return renamed, err
}

// gitlabSettings holds the contract's names of the settings for which GitLab has another word.
var gitlabSettings struct {
	once  sync.Once
	names map[string]string
}

func buildGitLabSettings() {
	gitlabSettings.names = map[string]string{}
	for e := range GitLab.entries() {
		if e.kind == settingWord && e.neutral != e.word {
			gitlabSettings.names[e.word] = e.neutral
		}
	}
}

// checkWords rejects settings in GitLab's words for a client without a vocabulary.
func (n renamer) checkWords(body []byte) error {
	if n.kind != settingWord {
		return nil
	}
	var r jsonread.Reader
	r.Reset(body)
	if r.Kind() != "object" {
		return nil
	}
	gitlabSettings.once.Do(buildGitLabSettings)
	for r.Object(); r.Key(); r.Skip() {
		if neutral, known := gitlabSettings.names[string(r.CurrentKey())]; known {
			return errors.New("the server uses GitLab's words (" + string(r.CurrentKey()) + " for " + neutral + "), so settings would be lost silently: create the client with WithVocabulary(forge.GitLab)")
		}
	}
	return nil
}

// rename returns the object with other names for its keys. Values that are not objects are returned
// unchanged.
func (n renamer) rename(object []byte, name func(string) (string, error)) ([]byte, error) {
	var r jsonread.Reader
	r.Reset(object)
	if r.Kind() != "object" {
		return object, nil
	}
	w := valueWriter{text: append(make([]byte, 0, len(object)+256), '{')}
	for r.Object(); r.Key(); {
		key := r.KeyText()
		value := r.View()
		renamed, err := name(key)
		if err == nil && key == n.inner {
			value, err = renamer{words: n.words, kind: n.kind}.rename(value, name)
		}
		if err != nil {
			return nil, err
		}
		w.key(renamed)
		w.text = append(w.text, value...)
	}
	return append(w.text, '}'), r.End()
}
