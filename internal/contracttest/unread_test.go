package contracttest_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/gosource"
)

// unreadKeys lists the keys of the catalogue that no test of the client reads, and why.
var unreadKeys = []struct{ reason, keys string }{
	{"text for people, and how the catalogue was made",
		`endpoints.auth.note endpoints.body_complete endpoints.kinds.note endpoints.kinds.row endpoints.kinds.section
		endpoints.kinds_complete endpoints.kinds_note endpoints.named_as endpoints.note endpoints.pagination.note
		endpoints.param.as_written endpoints.param.example endpoints.param.note endpoints.param.only.note
		endpoints.kinds.param.note endpoints.param.section endpoints.param.unit endpoints.param.named_below_table
		endpoints.param.type_inferred endpoints.param.param.type_inferred endpoints.param.required_inferred
		endpoints.kinds.param.enum_inferred endpoints.path_as_written endpoints.ref.also endpoints.response.note
		endpoints.response.status_source endpoints.headers.note types.complete types.description types.kind types.ref
		types.view_notes types.fields.notes types.fields.group types.fields.name_expanded types.fields.type_inferred`},
	{"prose, of which each statement has its own code and test",
		`endpoints.errors endpoints.error_type endpoints.rules.kind endpoints.rules.limit endpoints.rules.offerings
		endpoints.rules.release endpoints.rules.seconds endpoints.rules.status endpoints.rules.text
		endpoints.rules.value`},
	{"the body and the query are read alike, and arrays under the bare name too",
		`endpoints.body_type`},
	{"the server's own defaults and words: the catalogue has none that it could take over",
		`endpoints.param.default_note endpoints.param.default_shown endpoints.kinds.param.default_note
		types.fields.stand_in endpoints.param.stand_in endpoints.kinds.param.templated types.fields.name_shown
		types.fields.discriminator`},
	{"what is deprecated works until it is removed",
		`endpoints.deprecated.removal endpoints.pagination.offset_deprecated endpoints.param.deprecated
		endpoints.kinds.param.deprecated.note endpoints.param.deprecated.alias endpoints.param.deprecated.inverse
		endpoints.param.deprecated.note endpoints.param.deprecated.removal endpoints.param.deprecated.since
		endpoints.param.enum_deprecated endpoints.param.special_deprecated types.fields.deprecated.note
		types.fields.enum_deprecated`},
	{"what was removed is not there: as a parameter it is ignored, as a field left out",
		`endpoints.param.removed types.removed_fields`},
	{"not modelled: feature flags, which are all on; the community edition; the scope of a throttle; the items of a list in " +
		"a hash; fields beyond the named ones",
		`endpoints.only.feature_flag endpoints.param.enum_notes endpoints.param.min_text endpoints.param.limit_scope
		endpoints.param.family`},
	{"said by the fields of the type too, or by tests on all fields of the Go types",
		`types.extends types.views types.additional_fields types.any_field_may_be_absent types.fields.views
		types.fields.only types.fields.items.alternative.inferred types.fields.items.alternative.type
		types.fields.items.alternative.when types.fields.items.type types.fields.values.items endpoints.response.views`},
	{"the server decides: the client asks for keyset pagination and sends filters and settings whatever tier, offering, " +
		"release, role and range they have, and explains a refusal",
		`endpoints.pagination.keyset_only endpoints.pagination.keyset_required endpoints.pagination.keyset_who
		endpoints.auth.who endpoints.auth.token_scope endpoints.param.only endpoints.kinds.param.only
		endpoints.param.allowed endpoints.param.max endpoints.param.min endpoints.param.default
		endpoints.kinds.param.default endpoints.param.item_enum endpoints.param.needs endpoints.param.max_bytes_text
		endpoints.param.format endpoints.param.forms`},
	{"the parameters of some offerings are settings, which the hosted one does not have, and administrators' filters: their " +
		"comments name the role",
		`endpoints.param.only.offerings`},
	{"the client's checks are written beside the options, each with its own test",
		`endpoints.param.max_items endpoints.param.min_items endpoints.param.max_length endpoints.param.requires
		endpoints.param.used_with endpoints.param.optional endpoints.param.separator endpoints.kinds.param.separator
		endpoints.kinds.param.enables endpoints.kinds.param.overrides_channel_of endpoints.headers.required
		endpoints.same_wire_as endpoints.kinds.kind`},
}

// TestCatalogueIsParsed fails for keys of the catalogue that no test of the client reads, unless the
// list above has the reason: a rule that no code reads is not enforced.
func TestCatalogueIsParsed(t *testing.T) {
	names := []string{"endpoints.json", "types.json"}
	contract, err := gosource.LoadExternalTests(".", "./internal/contracttest/...")
	require.NoError(t, err)
	root, err := gosource.LoadWithTests(".", ".")
	require.NoError(t, err)
	readers := gosource.KeyReaders{gosource.NewKeyReader(names, append(contract, root)...), gosource.NewKeyReader(names, root)}
	listed := map[string]bool{}
	for _, row := range unreadKeys {
		for name := range strings.FieldsSeq(row.keys) {
			assert.False(t, listed[name], "%s is listed twice", name)
			listed[name] = true
		}
	}
	unread := map[string]bool{}
	for _, file := range names {
		data, err := os.ReadFile("testdata/spec/" + file)
		require.NoError(t, err)
		var value any
		require.NoError(t, json.Unmarshal(data, &value))
		if types, isMap := value.(map[string]any); isMap {
			delete(types, "ApplicationSettingsUpdate") // its fields are the parameters of a call
		}
		maps.Copy(unread, readers.Unread(file, value))
	}
	for _, name := range slices.Sorted(maps.Keys(unread)) {
		assert.True(t, listed[name], "no code reads %s", name)
	}
}
