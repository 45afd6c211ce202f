package forge_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// settingsServer is a server that has only settings. It accepts the names that it knows, ignores
// all others with 200, and translates names for which it has its own word.
type settingsServer struct {
	*httptest.Server

	mu      sync.Mutex
	words   map[string]string // by the contract's name
	knows   map[string]bool   // by the contract's name
	values  map[string]any    // values that are set, by the contract's name
	hidden  map[string]bool   // not shown
	refused map[string]bool   // known and ignored
	instead map[string]any    // what a write stores instead of the value
	noNulls bool              // a null is stored as the zero value of the kind
	mixed   bool              // objects are shown with other white space and in another order
	writes  int
	updates []map[string]any // the received bodies, with the names as received
	broken  []string         // requests that no client may send
}

func newSettingsServer(t testing.TB) *settingsServer {
	s := &settingsServer{}
	s.clear(nil)
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// clear resets the server to the state of a new one.
func (s *settingsServer) clear(words map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words, s.knows, s.values = words, map[string]bool{}, map[string]any{}
	s.hidden, s.refused, s.instead = map[string]bool{}, map[string]bool{}, map[string]any{}
	s.noNulls, s.mixed, s.writes, s.updates, s.broken = false, false, 0, nil, nil
}

func (s *settingsServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.URL.Path != "/api/v4/application/settings" || r.URL.RawQuery != "":
		s.broken = append(s.broken, "the address "+r.URL.String())
	case r.Method == http.MethodPut:
		v, err := readJSON(body)
		update, isObject := v.(map[string]any)
		if err != nil || !isObject {
			s.broken = append(s.broken, "the body "+string(body))
		}
		s.update(update)
	case r.Method != http.MethodGet || len(body) > 0:
		s.broken = append(s.broken, r.Method+" "+string(body))
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.document())
}

func (s *settingsServer) update(update map[string]any) {
	s.updates = append(s.updates, update)
	s.writes++
	for _, wire := range slices.Sorted(maps.Keys(update)) {
		name, value := s.name(wire), update[wire]
		if !s.knows[name] || s.refused[name] {
			continue
		}
		if other, odd := s.instead[name]; odd {
			value = other
		}
		if value == nil && s.noNulls {
			value = zeroOfKind(name)
		}
		s.values[name] = value
		for old, replacement := range settingAliases {
			if _, given := update[s.wire(replacement)]; name == old && s.knows[replacement] && !given {
				s.values[replacement] = underOtherName(replacement, value)
			}
			if name == replacement && s.knows[old] {
				s.values[old] = underOtherName(old, value)
			}
		}
	}
}

// underOtherName returns a value in the form that it has under an alias. Only signin_enabled has
// another form.
func underOtherName(alias string, value any) any {
	switch v := value.(type) {
	case bool:
		if alias == "signin_enabled" {
			return map[bool]string{true: "true", false: "false"}[v]
		}
	case string:
		if alias == "password_authentication_enabled_for_web" && (v == "true" || v == "false") {
			return v == "true"
		}
	}
	return value
}

func zeroOfKind(name string) any {
	facts, _ := readSettingFacts()
	fact := facts.byName[name]
	if fact == nil {
		return nil
	}
	return map[string]any{"boolean": false, "string": "", "array": []any{}, "object": map[string]any{}, "integer": number(0), "number": number(0)}[fact.kind]
}

// wire returns the server's name of a setting.
func (s *settingsServer) wire(name string) string {
	if word := s.words[name]; word != "" {
		return word
	}
	return name
}

// name returns the contract's name for a name of the server. The server does not know a contract's
// name for which it has its own word.
func (s *settingsServer) name(wire string) string {
	for name, word := range s.words {
		if word == wire {
			return name
		}
	}
	if s.words[wire] != "" {
		return "the neutral name " + wire
	}
	return wire
}

// visible returns the settings that the server shows, by the contract's names, without the id and
// times.
func (s *settingsServer) visible() map[string]any {
	shown := map[string]any{}
	for name, value := range s.values {
		if !s.hidden[name] {
			shown[name] = value
		}
	}
	return shown
}

func (s *settingsServer) document() []byte {
	shown := s.visible()
	names := slices.Sorted(maps.Keys(shown))
	open, comma, colon := "{", ",", ":"
	if s.mixed {
		slices.Reverse(names)
		open, comma, colon = "{\n  ", ",\n  ", " : "
	}
	var b strings.Builder
	b.WriteString(open + `"id"` + colon + "1" + comma + `"created_at"` + colon + `"2020-01-02T03:04:05.678Z"`)
	updated := time.Date(2026, 1, 2, 3, 4, s.writes, 0, time.UTC).Format(time.RFC3339)
	b.WriteString(comma + `"updated_at"` + colon + `"` + updated + `"`)
	for _, name := range names {
		b.WriteString(comma + string(writeJSON(s.wire(name))) + colon)
		s.render(&b, shown[name], comma, colon)
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

func (s *settingsServer) render(b *strings.Builder, v any, comma, colon string) {
	object, isObject := v.(map[string]any)
	if !isObject {
		b.Write(writeJSON(v))
		return
	}
	names := slices.Sorted(maps.Keys(object))
	if s.mixed {
		slices.Reverse(names)
	}
	b.WriteString("{")
	for i, name := range names {
		if i > 0 {
			b.WriteString(comma)
		}
		b.WriteString(string(writeJSON(name)) + colon)
		s.render(b, object[name], comma, colon)
	}
	b.WriteString("}")
}

// settingsState is the state of a server for a check.
type settingsState struct {
	shown   map[string]any
	held    map[string]any // shown and hidden
	updates []map[string]any
	broken  []string
}

func (s *settingsServer) state() *settingsState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &settingsState{shown: s.visible(), held: maps.Clone(s.values), updates: slices.Clone(s.updates), broken: slices.Clone(s.broken)}
}

// Vocabularies of the tests: none, the built-in one, and a made-up one with words for aliases,
// companions, deprecated settings and two exchanged names.
var settingVocabularies = []struct {
	name  string
	words map[string]string
}{
	{"none", nil},
	{"GitLab", gitLabSettings()},
	{"made up", map[string]string{
		"abuse_notification_email": "x_reports_to", "admin_notification_email": "x_admin_mail", "asset_proxy_whitelist": "x_whitelist",
		"signin_enabled": "x_signin", "password_authentication_enabled_for_web": "x_web_password",
		"shared_runners_minutes": "x_minutes", "shared_runners_text": "x_text", "chatapp_enabled": "talk_enabled", "chatapp_secret": "talk_secret",
		"throttle_unauthenticated_enabled": "x_throttle", "throttle_unauthenticated_web_enabled": "x_throttle_web",
		"housekeeping_gc_period": "x_gc", "domain_allowlist": "x_domains", "repository_storages_weighted": "x_weights", "sign_in_restrictions": "x_restrictions",
		"admin_mode": "silent_mode_enabled", "silent_mode_enabled": "admin_mode", "unknown_to_all": "x_unknown",
	}},
}

func gitLabSettings() map[string]string {
	words := map[string]string{}
	for line := range strings.Lines(string(forge.GitLab)) {
		if rest, found := strings.CutPrefix(strings.TrimSpace(line), "setting "); found {
			name, word, _ := strings.Cut(rest, " = ")
			if name != word {
				words[name] = word
			}
		}
	}
	return words
}

// settingsClients returns a client of the server for each vocabulary.
func settingsClients(t testing.TB, url string) []*forge.Client {
	clients := make([]*forge.Client, len(settingVocabularies))
	for i, v := range settingVocabularies {
		text := strings.Builder{}
		for name, word := range v.words {
			text.WriteString("setting " + name + " = " + word + "\n")
		}
		vocabulary := forge.Vocabulary(text.String())
		if v.name == "GitLab" {
			vocabulary = forge.GitLab
		}
		client, err := forge.NewClient(url, forge.WithToken("glpat-settings"), forge.WithVocabulary(vocabulary))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.CloseIdleConnections)
		clients[i] = client
	}
	return clients
}
