package forge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A value that a setting's field cannot take is in Extra under a name that a field has. It counts as what is there, and is
// not sent back.
func TestDiffSettingsMisfits(t *testing.T) {
	const odd = `{"snippet_size_limit":"10 MB","admin_mode":true,"allowed_integrations":["a.example",5],"unheard_of":{"a":1}}`
	const plain = `{"snippet_size_limit":10,"admin_mode":true,"allowed_integrations":["a.example"],"unheard_of":{"a":1}}`
	for _, test := range []struct {
		name, before, after string
		change              func(*ApplicationSettings)
		update              string
		unsettable          []string
	}{
		{"nothing", odd, odd, func(*ApplicationSettings) {}, `{}`, nil},
		{"another setting", odd, odd, func(s *ApplicationSettings) { s.AdminMode = false }, `{"admin_mode":false}`, nil},
		{"the field is set", odd, odd, func(s *ApplicationSettings) { s.SnippetSizeLimit = 20 }, `{"snippet_size_limit":20}`, nil},
		{"a list is set", odd, odd, func(s *ApplicationSettings) { s.AllowedIntegrations = []string{"b.example"} }, `{"allowed_integrations":["b.example"]}`, nil},
		{"a list is cleared", odd, odd, func(s *ApplicationSettings) { s.AllowedIntegrations = nil }, `{"allowed_integrations":[]}`, nil},
		{"without Extra zero is zero", odd, odd, func(s *ApplicationSettings) { s.Extra = nil; s.AllowedIntegrations = []string{"a.example"} },
			`{"snippet_size_limit":0,"allowed_integrations":["a.example"]}`, nil},
		{"odd names", odd, strings.Replace(odd, "{", `{"admin_mode[x]":1,"admin_mode[]":2,"-":3,`, 1), func(*ApplicationSettings) {}, `{"admin_mode[x]":1,"admin_mode[]":2,"-":3}`, nil},
		{"from another type", odd, plain, func(*ApplicationSettings) {}, `{"snippet_size_limit":10,"allowed_integrations":["a.example"]}`, nil},
		{"to another type", plain, odd, func(*ApplicationSettings) {}, `{}`, []string{"allowed_integrations", "snippet_size_limit"}},
	} {
		before, _, err := decodeText[ApplicationSettings](test.before)
		require.NoError(t, err)
		after, _, err := decodeText[ApplicationSettings](test.after)
		require.NoError(t, err)
		test.change(&after)
		diff, err := DiffSettings(&before, &after)
		require.NoError(t, err, test.name)
		members, err := membersOf(diff.Update)
		require.NoError(t, err)
		got, err := json.Marshal(members)
		require.NoError(t, err)
		assert.JSONEq(t, test.update, string(got), test.name)
		var unsettable []string
		for _, d := range diff.Unsettable {
			unsettable = append(unsettable, d.Name)
		}
		assert.Equal(t, test.unsettable, unsettable, test.name)
	}

	diff, err := DiffSettings(&ApplicationSettings{SnippetSizeLimit: 1}, &ApplicationSettings{Extra: map[string]json.RawMessage{"snippet_size_limit": json.RawMessage(`"5 MB"`)}})
	require.NoError(t, err)
	assert.Equal(t, []SettingDifference{{Name: "snippet_size_limit", Have: json.RawMessage("1"), Want: json.RawMessage(`"5 MB"`)}}, diff.Unsettable)
	for _, value := range []string{`5`, `{`} {
		_, err = DiffSettings(nil, &ApplicationSettings{Extra: map[string]json.RawMessage{"snippet_size_limit": json.RawMessage(value)}})
		assert.ErrorAs(t, err, new(*ValidationError), value)
	}
	_, err = DiffSettings(nil, &ApplicationSettings{Extra: map[string]json.RawMessage{"snippet_size_limit": json.RawMessage(`5`)}})
	assert.ErrorContains(t, err, "(snippet_size_limit): the map Extra holds it, and its field could: set the field")
}

// An event that the server writes in another form is not switched off by setting what was read.
func TestFillMisfits(t *testing.T) {
	integration, mismatches, err := decodeText[Integration](`{"active":true,"push_events":1,"issues_events":"1","note_events":"true","tag_push_events":true,"properties":{"webhook":"w"}}`)
	require.NoError(t, err)
	assert.Equal(t, []string{"/push_events", "/issues_events", "/note_events"}, pointers(mismatches))
	o := &TeamChatAOptions{}
	_, err = integration.Fill(o)
	var invalid *ValidationError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "push_events", invalid.Param)

	integration.Extra["push_events"] = json.RawMessage(`"0"`)
	_, err = integration.Fill(o)
	require.NoError(t, err)
	set := []*bool{o.PushEvents, o.IssuesEvents, o.NoteEvents, o.TagPushEvents}
	require.False(t, slices.Contains(set, nil))
	assert.Equal(t, []bool{false, true, true, true}, []bool{*set[0], *set[1], *set[2], *set[3]})

	integration.IssuesEvents, integration.PushEvents = true, true
	_, err = integration.Fill(o)
	require.NoError(t, err)
	assert.True(t, *o.PushEvents, "a field that a program sets counts")
}
