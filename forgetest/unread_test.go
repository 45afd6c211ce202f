package forgetest

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/gosource"
)

var catalogueNames = []string{"endpoints.json", "types.json", "deployed.json", "deployed_params.json", "words.json"}

// reader is code that reads the catalogue. It reads the keys for which its structs have fields.
type reader struct {
	*gosource.Package
	used    map[declaration]bool    // declarations that the code uses
	targets map[string][]types.Type // the types into which each file is decoded
}

// declaration identifies an object in all packages that use it.
type declaration struct {
	name, file string
	line       int
}

func declarationOf(in *gosource.Package, object types.Object) declaration {
	at := in.Fset.Position(object.Pos())
	return declaration{object.Name(), path.Base(at.Filename), at.Line}
}

// newReader returns the code of the packages. The first package, or packages that were loaded with
// it, decode the catalogue.
func newReader(packages ...*gosource.Package) *reader {
	r := &reader{Package: packages[0], used: map[declaration]bool{}, targets: map[string][]types.Type{}}
	for _, p := range packages {
		for _, object := range p.Info.Uses {
			r.used[declarationOf(p, object)] = true
		}
		for _, file := range p.Files {
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					r.target(p, call)
				}
				return true
			})
		}
	}
	return r
}

// target records the type of x in calls such as parse("catalogue/types.json", &x).
func (r *reader) target(in *gosource.Package, call *ast.CallExpr) {
	file := ""
	ast.Inspect(call, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, _ := strconv.Unquote(literal.Value)
			if name := path.Base(text); slices.Contains(catalogueNames, name) {
				file = name
			}
		}
		return true
	})
	if file == "" {
		return
	}
	for _, arg := range call.Args {
		if p, ok := in.Info.TypeOf(arg).Underlying().(*types.Pointer); ok {
			r.targets[file] = append(r.targets[file], p.Elem())
		}
	}
}

// unread returns the paths of a file that the reader does not read.
func (r *reader) unread(file string, value any) map[string]bool {
	name, _, _ := strings.Cut(file, ".")
	paths := map[string]bool{}
	if len(r.targets[file]) > 0 {
		r.walk(paths, name, value, r.targets[file])
	}
	return paths
}

// readers each read a part of the catalogue.
type readers []*reader

// unread returns the paths that none of the readers reads.
func (all readers) unread(file string, value any) (paths map[string]bool) {
	for _, r := range all {
		switch own := r.unread(file, value); {
		case len(r.targets[file]) == 0:
		case paths == nil:
			paths = own
		default:
			maps.DeleteFunc(paths, func(path string, _ bool) bool { return !own[path] })
		}
	}
	return paths
}

func (r *reader) walk(paths map[string]bool, at string, value any, into []types.Type) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			r.walk(paths, at, item, elements(into))
		}
	case map[string]any:
		for key, item := range value {
			name := at + "." + key
			switch {
			case strings.HasSuffix(key, "params") || key == "keys":
				name = at + ".param"
			case len(elements(into)) > 0: // a map whose keys are names of types, or words
				name = at
			}
			switch fields, whole := r.fields(into, key); {
			case whole:
			case len(fields) == 0:
				paths[name] = true
			default:
				r.walk(paths, name, item, fields)
			}
		}
	}
}

// fields returns the type into which the value of a key is decoded. whole reports whether the
// object is kept undecoded.
func (r *reader) fields(into []types.Type, key string) (fields []types.Type, whole bool) {
	for _, t := range into {
		switch under := pointed(t).Underlying().(type) {
		case *types.Map:
			fields = append(fields, under.Elem())
		case *types.Struct:
			fields = append(fields, r.field(under, key)...)
		case *types.Interface, *types.Slice: // any, and json.RawMessage
			whole = true
		}
	}
	return fields, whole
}

// field returns a struct's field for a key if the code uses it, or else that of an embedded struct.
func (r *reader) field(s *types.Struct, key string) (found []types.Type) {
	for i := range s.NumFields() {
		f := s.Field(i)
		name := reflect.StructTag(s.Tag(i)).Get("json")
		switch {
		case f.Embedded() && name == "":
			found = append(found, r.field(pointed(f.Type()).Underlying().(*types.Struct), key)...)
		case (name == key || name == "" && strings.EqualFold(f.Name(), key)) && r.used[declarationOf(r.Package, f)]:
			return []types.Type{f.Type()}
		}
	}
	return found
}

func pointed(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// elements returns the types of the elements of slices and maps.
func elements(list []types.Type) (elements []types.Type) {
	for _, t := range list {
		switch under := pointed(t).Underlying().(type) {
		case *types.Slice:
			elements = append(elements, under.Elem())
		case *types.Map:
			elements = append(elements, under.Elem())
		}
	}
	return elements
}

// unreadMembers lists the keys of the catalogue that no code reads, and why.
var unreadMembers = []struct{ reason, server, client string }{
	{"text for people, and how the catalogue was made",
		`endpoints.auth.note endpoints.body_complete endpoints.kinds.note endpoints.kinds.row endpoints.kinds.section endpoints.kinds_complete
		endpoints.kinds_note endpoints.named_as endpoints.note endpoints.pagination.note endpoints.param.as_written endpoints.param.example
		endpoints.param.note endpoints.param.only.note endpoints.kinds.param.note endpoints.param.section endpoints.param.unit
		endpoints.param.named_below_table endpoints.param.type_inferred endpoints.param.param.type_inferred endpoints.param.required_inferred
		endpoints.kinds.param.enum_inferred endpoints.path_as_written endpoints.ref endpoints.response.note endpoints.response.status_source
		endpoints.service types.complete types.description types.kind types.ref types.view_notes types.fields.notes types.fields.group
		types.fields.name_expanded types.fields.type_inferred types.fields.only.note`,
		`endpoints.auth.note endpoints.body_complete endpoints.kinds.note endpoints.kinds.row endpoints.kinds.section endpoints.kinds_complete
		endpoints.kinds_note endpoints.named_as endpoints.note endpoints.pagination.note endpoints.param.as_written endpoints.param.example
		endpoints.param.note endpoints.param.only.note endpoints.kinds.param.note endpoints.param.section endpoints.param.unit endpoints.param.named_below_table
		endpoints.param.type_inferred endpoints.param.param.type_inferred endpoints.param.required_inferred endpoints.kinds.param.enum_inferred
		endpoints.path_as_written endpoints.ref.also endpoints.response.note endpoints.response.status_source endpoints.headers.note
		types.complete types.description types.kind types.ref types.view_notes types.fields.notes types.fields.group
		types.fields.name_expanded types.fields.type_inferred`},
	{"prose, of which each statement has its own code and test",
		"endpoints.errors endpoints.rules endpoints.error_type",
		`endpoints.errors endpoints.error_type endpoints.rules.kind endpoints.rules.limit endpoints.rules.offerings endpoints.rules.release
		endpoints.rules.seconds endpoints.rules.status endpoints.rules.text endpoints.rules.value`},
	{"the handler has it, as it needs more than a value of the catalogue: headers and service of registry-native calls, the text of sizes and " +
		"ages, the range of refs, the length of the list of users, the inverse of active, the channels of a chat, labels with details, the target of a to-do",
		`endpoints.headers endpoints.param.const endpoints.param.max_bytes_text endpoints.param.forms endpoints.param.min_items
		endpoints.pagination.keyset_required endpoints.param.deprecated.inverse
		endpoints.kinds.param.enables endpoints.param.optional types.fields.items.alternative
		types.fields.ref_any types.fields.discriminator`, ""},
	{"the body and the query are read alike, and arrays under the bare name too",
		"endpoints.param.encoding endpoints.kinds.param.encoding endpoints.param.wire_special endpoints.body_type", "endpoints.body_type"},
	{"the server's own defaults and words: the catalogue has none that it could take over",
		`endpoints.param.default_note endpoints.param.default_shown endpoints.kinds.param.default_note types.fields.enum_seen types.fields.stand_in
		endpoints.param.stand_in endpoints.kinds.param.templated types.fields.name_shown`,
		`endpoints.param.default_note endpoints.param.default_shown endpoints.kinds.param.default_note types.fields.stand_in
		endpoints.param.stand_in endpoints.kinds.param.templated types.fields.name_shown types.fields.discriminator`},
	{"what is deprecated works until it is removed",
		`endpoints.deprecated endpoints.pagination.offset_deprecated endpoints.param.deprecated.note endpoints.param.deprecated.removal
		endpoints.param.deprecated.since endpoints.kinds.param.deprecated.note endpoints.kinds.param.deprecated.removal
		endpoints.kinds.param.deprecated.since endpoints.param.enum_deprecated types.fields.deprecated.note
		types.fields.deprecated.removal types.fields.deprecated.since types.fields.deprecated.use types.fields.enum_deprecated`,
		`endpoints.deprecated.removal endpoints.pagination.offset_deprecated endpoints.param.deprecated endpoints.kinds.param.deprecated.note
		endpoints.param.deprecated.alias endpoints.param.deprecated.inverse endpoints.param.deprecated.note endpoints.param.deprecated.removal
		endpoints.param.deprecated.since endpoints.param.enum_deprecated endpoints.param.special_deprecated types.fields.deprecated.note
		types.fields.enum_deprecated`},
	{"what was removed is not there: as a parameter it is ignored, as a field left out",
		"types.removed_fields", "endpoints.param.removed types.removed_fields"},
	{"all lists have offset pagination", "endpoints.pagination.offset", ""},
	{"not modelled: feature flags, which are all on; the community edition; the scope of a throttle; the items of a list in a hash; fields beyond " +
		"the named ones",
		`endpoints.only.feature_flag endpoints.param.only.feature_flag types.fields.only.edition
		endpoints.param.limit_scope endpoints.param.family types.fields.values.items types.additional_fields types.any_field_may_be_absent`,
		`endpoints.only.feature_flag endpoints.param.enum_notes endpoints.param.min_text endpoints.param.limit_scope endpoints.param.family`},
	{"said by the fields of the type too, or by tests on all fields of the Go types",
		"types.extends types.views",
		`types.extends types.views types.additional_fields types.any_field_may_be_absent types.fields.views types.fields.only
		types.fields.items.alternative.inferred types.fields.items.alternative.type types.fields.items.alternative.when types.fields.items.type
		types.fields.values.items endpoints.response.views`},
	{"the server decides: the client asks for keyset pagination and sends filters and settings whatever tier, offering, release, role and range " +
		"they have, and explains a refusal", "",
		`endpoints.pagination.keyset_only endpoints.pagination.keyset_required endpoints.pagination.keyset_who endpoints.auth.who
		endpoints.auth.token_scope endpoints.param.only endpoints.kinds.param.only endpoints.param.allowed endpoints.param.max endpoints.param.min
		endpoints.param.default endpoints.kinds.param.default endpoints.param.item_enum endpoints.param.needs endpoints.param.max_bytes_text
		endpoints.param.format endpoints.param.forms`},
	{"the parameters of some offerings are settings, which the hosted one does not have, and administrators' filters: their comments name the role", "",
		"endpoints.param.only.offerings"},
	{"the client's checks are written beside the options, each with its own test", "",
		`endpoints.param.max_items endpoints.param.min_items endpoints.param.max_length endpoints.param.requires endpoints.param.used_with
		endpoints.param.optional endpoints.param.separator endpoints.kinds.param.separator endpoints.kinds.param.enables
		endpoints.kinds.param.overrides_channel_of endpoints.headers.required endpoints.same_wire_as endpoints.kinds.kind`},
}

// TestCatalogueIsParsed fails for keys of the catalogue that no code reads, neither the server with
// its tests nor the tests of the client, unless the list above has the reason: a rule that no code
// reads is not enforced.
func TestCatalogueIsParsed(t *testing.T) {
	own, err := gosource.LoadWithTests(".", ".")
	require.NoError(t, err)
	contract, err := gosource.LoadExternalTests("..", "./internal/contracttest/...")
	require.NoError(t, err)
	root, err := gosource.LoadWithTests("..", ".")
	require.NoError(t, err)
	for who, reader := range map[string]readers{
		"server": {newReader(own)}, "client": {newReader(append(contract, root)...), newReader(root)},
	} {
		listed := map[string]bool{}
		for _, row := range unreadMembers {
			for _, name := range strings.Fields(map[string]string{"server": row.server, "client": row.client}[who]) {
				assert.False(t, listed[name], "%s: %s is listed twice", who, name)
				listed[name] = true
			}
		}
		unread := map[string]bool{}
		for _, file := range catalogueNames {
			maps.Copy(unread, reader.unread(file, catalogueValue(t, file)))
		}
		for _, name := range slices.Sorted(maps.Keys(unread)) {
			assert.True(t, listed[name], "%s: no code reads %s", who, name)
		}
		for _, name := range slices.Sorted(maps.Keys(listed)) {
			assert.True(t, unread[name] || who == "client", "%s is read now: remove it from the list", name) // the client's tests may read more keys
		}
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
