package forge_test

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// The types below embed a response type, or have a type in them that does. They are in another
// package, as callers' types are.
type (
	stamped struct {
		forge.Issue
		Fetched time.Time `json:"fetched"`
	}
	stampedPointer struct {
		*forge.Issue
		Fetched string
	}
	tagged struct {
		forge.Issue `json:"issue"`
	}
	two struct {
		forge.TimeStats
		*forge.References
	}
	deep    struct{ Base }
	Base    struct{ *stamped }
	within  struct{ Parts map[string][]*stamped }
	itself  struct{ *itself }
	tree    struct{ Children []*tree }
	ownJSON struct{ forge.Issue } // a promoted method cannot be told from its own
	closed  struct{ Inner stamped }
	ownList []func()
	kept    struct {
		Issue  forge.Issue
		Detail forge.RegistryTagDetail // a response type may embed another one
		Hidden stamped                 `json:"-"`
		hidden stamped                 //nolint:unused // encoding/json does not look there
		Closed closed
		Self   *itself
		Tree   tree
	}
)

func (*ownJSON) UnmarshalJSON([]byte) error  { return nil }
func (ownJSON) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }
func (*ownList) UnmarshalJSON([]byte) error  { return nil }
func (*closed) UnmarshalJSON([]byte) error   { return nil }
func (closed) MarshalJSON() ([]byte, error)  { return []byte("{}"), nil }

// A type that encoding/json would read or write in part, and a target that is not a pointer, are
// refused before anything is sent.
func TestCallersTypesAreRefused(t *testing.T) {
	srv := forgetest.New(t)
	client := srv.Client()
	ctx := t.Context()
	refused := func(err error, option, text string) {
		t.Helper()
		var invalid *forge.ValidationError
		require.ErrorAs(t, err, &invalid)
		assert.Equal(t, option, invalid.Option)
		assert.ErrorContains(t, err, text)
	}
	post := forge.Call{Method: http.MethodPost, Route: "/projects/:id/issues", Args: []forge.Arg{forge.ID(1)}}
	for text, value := range map[string]any{
		"forge_test.stamped embeds forge.Issue, whose methods hide its other fields from encoding/json: name the field, as in Issue forge.Issue": &stamped{},
		"stampedPointer embeds": &stampedPointer{}, "tagged embeds": &tagged{}, "two embeds forge.TimeStats": &two{}, "deep embeds forge.Issue": &deep{},
		"stamped embeds": &within{}, "stamped embeds forge": &struct{ within }{}, "forge_test.stamped embeds ": &[]stamped{}, "forge_test.stamped embeds f": &[2]map[string]**stamped{}, "ownJSON embeds": &ownJSON{},
	} {
		refused(client.Do(ctx, post, value), "out", text)
		call := post
		call.Body = value
		refused(client.Do(ctx, call, nil), "Call.Body", text)
	}
	_, err := forge.Collect(forge.ListAs[stamped](ctx, client, forge.Call{Route: "/issues"}))
	refused(err, "out", "stamped embeds")
	_, err = forge.Collect(forge.ListAs[*within](ctx, client, forge.Call{Route: "/issues"}, forge.SkipValidation()))
	refused(err, "out", "stamped embeds")

	for _, out := range []any{forge.Issue{}, map[string]any{}, []forge.Issue{}, 5, "", (*forge.Issue)(nil), (*map[string]any)(nil), func() {}, make(chan int), (map[string]any)(nil)} {
		refused(client.Do(ctx, post, out), "out", "pass a pointer that is not nil")
	}
	for _, out := range []any{new(chan int), new(func()), new([]complex128), new(map[string]*chan int)} {
		refused(client.Do(ctx, post, out), "out", "JSON has no value of type")
	}
	_, err = new(forge.Integration).Decode(struct{ *forge.AsanaOptions }{&forge.AsanaOptions{}})
	refused(err, "Decode", "pointer")
	assert.Empty(t, srv.Requests(), "nothing was sent")

	post.Body = kept{}
	for _, out := range []any{new(kept), new(ownList), new(netip.Addr), new(struct{})} {
		var invalid *forge.ValidationError
		err = client.Do(ctx, post, out)
		require.Error(t, err)
		assert.NotErrorAs(t, err, &invalid, "encoding/json does not look there, or calls a method")
	}
	assert.NotEmpty(t, srv.Requests())
}
