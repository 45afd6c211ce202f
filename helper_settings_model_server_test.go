package forge_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// settingsServer is a server that has only settings. It stores the names that it knows and ignores
// all others with 200. Names are those of the contract; on the wire it has its own words for some.
type settingsServer struct {
	words   map[string]string
	zeros   map[string]any // what a null is stored as
	knows   map[string]bool
	values  map[string]any
	hidden  map[string]bool // not shown
	instead map[string]any  // what a write stores instead of the value
	updates []map[string]any
}

func newSettingsServer(v forge.Vocabulary) *settingsServer {
	return &settingsServer{words: settingWords(v), zeros: map[string]any{}, knows: map[string]bool{}, values: map[string]any{}, hidden: map[string]bool{}, instead: map[string]any{}}
}

// settingVocabularies are the vocabularies of the tests.
var settingVocabularies = []forge.Vocabulary{forge.GitLab, forge.Neutral}

// settingWords returns the documents' words for GitLab's, which a server with these words has.
func settingWords(v forge.Vocabulary) map[string]string {
	if v == forge.GitLab {
		return nil
	}
	words := map[string]string{}
	for neutral, word := range catalogue.SettingWords() {
		if !strings.HasPrefix(neutral, "<") {
			words[word] = neutral
		}
	}
	return words
}

// settingsClients returns a client for each vocabulary. Their requests go to *server, in memory.
func settingsClients(t *testing.T, server **settingsServer) (clients []*forge.Client) {
	t.Helper()
	transport := httpmock.NewMockTransport()
	transport.RegisterNoResponder(func(r *http.Request) (*http.Response, error) { return (*server).serve(r) })
	for _, v := range settingVocabularies {
		client, err := forge.NewClient("https://forge.example.com", forge.WithToken("glpat-settings"), forge.WithVocabulary(v), forge.WithHTTPClient(&http.Client{Transport: transport}))
		require.NoError(t, err)
		clients = append(clients, client)
	}
	return clients
}

func (s *settingsServer) serve(r *http.Request) (*http.Response, error) {
	switch r.Method + " " + r.URL.RequestURI() {
	case "PUT /api/v4/application/settings":
		var update map[string]any
		if err := json.NewDecoder(r.Body).Decode(&update); err != nil {
			return nil, err
		}
		s.update(update)
	case "GET /api/v4/application/settings":
	default:
		return nil, errors.New("not a route of settings")
	}
	return httpmock.NewBytesResponse(http.StatusOK, s.document()), nil
}

func (s *settingsServer) update(update map[string]any) {
	s.updates = append(s.updates, update)
	for name := range s.knows {
		value, given := update[s.wire(name)]
		if !given {
			continue
		}
		if other, odd := s.instead[name]; odd {
			value = other
		}
		if value == nil {
			value = s.zeros[name]
		}
		s.values[name] = value
		partner := partnerOf(name)
		if _, alsoGiven := update[s.wire(partner)]; s.knows[partner] && (!alsoGiven || settingAliases[partner] == name) {
			s.values[partner] = underOtherName(partner, value)
		}
	}
}

// wire returns the server's name of a setting.
func (s *settingsServer) wire(name string) string {
	return cmp.Or(s.words[name], name)
}

// shown returns the settings that the server shows, without the id and times.
func (s *settingsServer) shown() map[string]any {
	shown := maps.Clone(s.values)
	maps.DeleteFunc(shown, func(name string, _ any) bool { return s.hidden[name] })
	return shown
}

// document returns what the server sends, with white space that the library does not write.
func (s *settingsServer) document() []byte {
	object := map[string]any{"id": 3, "created_at": "2020-01-02T03:04:05.678Z", "updated_at": "2026-01-02T03:04:05Z"}
	for name, value := range s.shown() {
		object[s.wire(name)] = value
	}
	text, _ := json.MarshalIndent(object, "", " ")
	return text
}
