package forge

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
