package forgetest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/gosource"
)

var catalogueNames = []string{"endpoints.json", "types.json", "deployed.json", "deployed_params.json", "words.json"}

// unreadKeys lists the keys of the catalogue that no code of the server reads, and why.
var unreadKeys = []struct{ reason, keys string }{
	{"text for people, and how the catalogue was made",
		`endpoints.auth.note endpoints.body_complete endpoints.kinds.note endpoints.kinds.row endpoints.kinds.section
		endpoints.kinds_complete endpoints.kinds_note endpoints.named_as endpoints.note endpoints.pagination.note
		endpoints.param.as_written endpoints.param.example endpoints.param.note endpoints.param.only.note
		endpoints.kinds.param.note endpoints.param.section endpoints.param.unit endpoints.param.named_below_table
		endpoints.param.type_inferred endpoints.param.param.type_inferred endpoints.param.required_inferred
		endpoints.kinds.param.enum_inferred endpoints.path_as_written endpoints.ref endpoints.response.note
		endpoints.response.status_source endpoints.service types.complete types.description types.kind types.ref
		types.view_notes types.fields.notes types.fields.group types.fields.name_expanded types.fields.type_inferred
		types.fields.only.note`},
	{"prose, of which each statement has its own code and test",
		`endpoints.errors endpoints.rules endpoints.error_type`},
	{"the handler has it, as it needs more than a value of the catalogue: headers and service of registry-native calls, the " +
		"text of sizes and ages, the range of refs, the length of the list of users, the inverse of active, the channels of a chat, labels with details, the target of a to-do",
		`endpoints.headers endpoints.param.const endpoints.param.max_bytes_text endpoints.param.forms
		endpoints.param.min_items endpoints.pagination.keyset_required endpoints.param.deprecated.inverse
		endpoints.kinds.param.enables endpoints.param.optional types.fields.items.alternative types.fields.ref_any
		types.fields.discriminator`},
	{"the body and the query are read alike, and arrays under the bare name too",
		`endpoints.param.encoding endpoints.kinds.param.encoding endpoints.param.wire_special endpoints.body_type`},
	{"the server's own defaults and words: the catalogue has none that it could take over",
		`endpoints.param.default_note endpoints.param.default_shown endpoints.kinds.param.default_note
		types.fields.enum_seen types.fields.stand_in endpoints.param.stand_in endpoints.kinds.param.templated
		types.fields.name_shown`},
	{"what is deprecated works until it is removed",
		`endpoints.deprecated endpoints.pagination.offset_deprecated endpoints.param.deprecated.note
		endpoints.param.deprecated.removal endpoints.param.deprecated.since endpoints.kinds.param.deprecated.note
		endpoints.kinds.param.deprecated.removal endpoints.kinds.param.deprecated.since endpoints.param.enum_deprecated
		types.fields.deprecated.note types.fields.deprecated.removal types.fields.deprecated.since
		types.fields.deprecated.use types.fields.enum_deprecated`},
	{"what was removed is not there: as a parameter it is ignored, as a field left out",
		`types.removed_fields`},
	{"all lists have offset pagination",
		`endpoints.pagination.offset`},
	{"not modelled: feature flags, which are all on; the community edition; the scope of a throttle; the items of a list in " +
		"a hash; fields beyond the named ones",
		`endpoints.only.feature_flag endpoints.param.only.feature_flag types.fields.only.edition
		endpoints.param.limit_scope endpoints.param.family types.fields.values.items types.additional_fields
		types.any_field_may_be_absent`},
	{"said by the fields of the type too, or by tests on all fields of the Go types",
		`types.extends types.views`},
}

// TestCatalogueIsParsed fails for keys of the catalogue that neither the server nor its tests read,
// unless the list above has the reason: a rule that no code reads is not enforced. The tests of the
// client have a test of this name, too.
func TestCatalogueIsParsed(t *testing.T) {
	own, err := gosource.LoadWithTests(".", ".")
	require.NoError(t, err)
	readers := gosource.KeyReaders{gosource.NewKeyReader(catalogueNames, own)}
	listed := map[string]bool{}
	for _, row := range unreadKeys {
		for name := range strings.FieldsSeq(row.keys) {
			assert.False(t, listed[name], "%s is listed twice", name)
			listed[name] = true
		}
	}
	unread := map[string]bool{}
	for _, file := range catalogueNames {
		maps.Copy(unread, readers.Unread(file, catalogueValue(t, file)))
	}
	for _, name := range slices.Sorted(maps.Keys(unread)) {
		assert.True(t, listed[name], "no code reads %s", name)
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		assert.True(t, unread[name], "%s is read now: remove it from the list", name)
	}
}

// catalogueValue parses a file, except for the type whose fields are the parameters of a call.
func catalogueValue(t *testing.T, file string) (value any) {
	parse("catalogue/"+file, &value)
	if file != "types.json" {
		return value
	}
	all := value.(map[string]any)
	again := all["ApplicationSettingsUpdate"].(map[string]any)["fields"]
	delete(all, "ApplicationSettingsUpdate")
	for _, e := range catalogueValue(t, "endpoints.json").([]any) {
		if e := e.(map[string]any); e["id"] == "settings.update" {
			assert.Equal(t, e["body_params"], again)
		}
	}
	return value
}
