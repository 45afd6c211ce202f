package forge

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

// Every response type has both methods of its own, on the value and on the pointer.
func TestMarshalMethods(t *testing.T) {
	for _, typ := range decodedTypes(t) {
		assert.True(t, typ.Implements(reflect.TypeFor[json.Marshaler]()), "%s has no MarshalJSON", typ)
		assert.True(t, reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()), "%s has no UnmarshalJSON", typ)
		for _, text := range []string{"", "n", "nul", "nonsense", "null null", "nullx", "{", "{}}", "{}null", "{}{}"} {
			assert.Error(t, reflect.New(typ).Interface().(json.Unmarshaler).UnmarshalJSON([]byte(text)), "%s from %q", typ, text)
		}
		if typ == reflect.TypeFor[RegistryToken]() {
			continue // it is written as a placeholder
		}
		text, err := json.Marshal(reflect.Zero(typ).Interface())
		require.NoError(t, err, typ)
		assert.True(t, len(text) == 2 || string(text) == "null", "the zero %s is %s", typ, text)
	}
}

// What was read, written and read again is equal, and what is written was read.
func TestMarshalDocuments(t *testing.T) {
	types := decodedTypes(t)
	rapid.Check(t, func(rt *rapid.T) {
		for range 8 {
			typ := rapid.SampledFrom(types).Draw(rt, "type")
			document := drawDocument(rt, typ, 0)
			if difference := survives(typ, []byte(document), json.Marshal, json.Unmarshal); difference != "" {
				rt.Fatalf("%s\nin %s", difference, document)
			}
		}
	})
}

// The recorded responses survive, each in all types that have fields for most of its keys.
func TestMarshalFixtures(t *testing.T) {
	racetest.SkipSequential(t)
	types, count := decodedTypes(t), 0
	for _, text := range fixtures(t) {
		for _, typ := range types {
			if readsLittle(typ, text) {
				continue
			}
			assert.Empty(t, survives(typ, text, json.Marshal, json.Unmarshal), "%s: %.200s", typ, text)
			count++
		}
	}
	assert.Greater(t, count, 100)
}

// readsLittle reports whether most keys of the text have no field in the type.
func readsLittle(typ reflect.Type, text []byte) bool {
	value := reflect.New(typ)
	_ = decodeInto(text, value.Interface())
	return value.Elem().FieldByName("Extra").Len() > len(jsonread.Members(text))/2
}

// fixtures returns all objects in testdata, the elements of lists one by one.
func fixtures(t *testing.T) (texts [][]byte) {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.json")
	require.NoError(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		items := []json.RawMessage{text}
		_ = json.Unmarshal(text, &items) // most are not lists
		for _, item := range items {
			if bytes.HasPrefix(bytes.TrimSpace(item), []byte("{")) {
				texts = append(texts, item)
			}
		}
	}
	require.NotEmpty(t, texts)
	return texts
}

// survives describes what a value of typ that is read from a document loses on the way to JSON and
// back.
func survives(typ reflect.Type, document []byte, marshal func(any) ([]byte, error), unmarshal func([]byte, any) error) string {
	value, again := reflect.New(typ), reflect.New(typ)
	if err := decodeInto(document, value.Interface()); err != nil {
		return err.Error()
	}
	if typ == reflect.TypeFor[RegistryToken]() {
		if err := unmarshal(document, again.Interface()); err != nil {
			return err.Error()
		}
		return equalValues(value, again)
	}
	text, err := marshal(value.Elem().Interface())
	if err != nil {
		return err.Error()
	}
	if err := unmarshal(text, again.Interface()); err != nil {
		return fmt.Sprintf("%v in %s", err, text)
	}
	if difference := equalValues(value, again); difference != "" {
		return fmt.Sprintf("%s%s in %s", typ, difference, text)
	}
	written, _ := jsonread.Parse(text)
	read, _ := jsonread.Parse(document)
	if difference := invented(written, read); difference != "" {
		return fmt.Sprintf("%s in %s", difference, text)
	}
	if second, err := marshal(again.Interface()); err != nil || !bytes.Equal(text, second) {
		return fmt.Sprintf("%s, then %s %v", text, second, err)
	}
	return ""
}

// Values that a program sets survive, too.
func TestMarshalValues(t *testing.T) {
	types := slices.DeleteFunc(decodedTypes(t), func(typ reflect.Type) bool { return typ == reflect.TypeFor[RegistryToken]() })
	rapid.Check(t, func(rt *rapid.T) {
		for range 8 {
			typ := rapid.SampledFrom(types).Draw(rt, "type")
			value, again := reflect.New(typ), reflect.New(typ)
			drawValue(rt, value.Elem(), 0)
			text, err := json.Marshal(value.Interface())
			if err == nil {
				err = json.Unmarshal(text, again.Interface())
			}
			if err != nil {
				rt.Fatalf("%v: %s", err, text)
			}
			if difference := equalValues(value, again); difference != "" {
				rt.Fatalf("%s%s in %s", typ, difference, text)
			}
		}
	})
}

func TestMarshalForm(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 30, 0, 500, time.FixedZone("", 2*3600))
	for want, value := range map[string]any{
		`{"id":3,"title":"a\u003cb"}`:                                Issue{ID: 3, Title: "a<b"},
		`{"closed_at":"2026-03-01T09:30:00.0000005+02:00"}`:          Issue{ClosedAt: at},
		`{"closed_at":"1800-01-01T11:59:59.9Z"}`:                     Issue{ClosedAt: time.Date(1800, 1, 1, 12, 0, 0, 900_000_000, time.FixedZone("LMT", 1))},
		`{"due_date":"2026-03-01"}`:                                  Issue{DueDate: Date{2026, 3, 1}},
		`{"weight":0}`:                                               Issue{Weight: new(0)},
		`{"closed_by":{}}`:                                           Issue{ClosedBy: &UserSummary{}},
		`{"labels":[]}`:                                              Issue{Labels: []Label{}},
		`{"labels":["bug",{"name":"p1","color":"#fff"},"",{"x":1}]}`: Issue{Labels: []Label{{Name: "bug"}, {Name: "p1", Color: "#fff"}, {}, {Extra: map[string]json.RawMessage{"x": json.RawMessage("1")}}}},
		`{"a":[1,2],"b":null,"c":"\u003c"}`:                          &Issue{Extra: map[string]json.RawMessage{"c": json.RawMessage(`"<"`), "a": json.RawMessage("[1, 2]"), "b": nil}},
		`{"digest":"sha256:1","name":"latest"}`:                      RegistryTagDetail{RegistryTag: RegistryTag{Name: "latest"}, Digest: "sha256:1"},
		`{}`:                                                         Issue{Author: UserSummary{Extra: map[string]json.RawMessage{}}},
		"{\"title\":\"\ufffda\"}":                                    Issue{Title: "\x80a"},
		`{"title":"é \u001f!\"\\ ~\u2028"}`:                          Issue{Title: "é \x1f!\"\\ ~\u2028"},
		`{"target_url":"x"}`:                                         Todo{TargetURL: "x", Target: json.RawMessage("null")},
		`"name"`:                                                     Label{Name: "name"},
		`{"name":"a","text_color":"#fff"}`:                           Label{Name: "a", TextColor: "#fff"},
		`{"name":"a","description":"d"}`:                             Label{Name: "a", Description: "d"},
		`{"name":"a","description_html":"d"}`:                        Label{Name: "a", DescriptionHTML: "d"},
		`[null,{}]`:                                                  []*Issue{nil, {}},
	} {
		text, err := json.Marshal(value)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(text))
		assert.Len(t, string(text), len(want), string(text))
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(Issue{Title: "a<b\u2028\u2029"}))
	assert.Contains(t, out.String(), `"a<b\u2028\u2029"`)
}

// A key that is both a field and in Extra: a value that did not fit is written as it was read, until
// a program sets the field.
func TestMarshalClash(t *testing.T) {
	const document = `{"id":[7],"labels":["a",5],"title":"t","x":1}`
	for want, edit := range map[string]func(*Issue){
		document: func(*Issue) {},
		`{"id":7,"labels":["a",5],"title":"t","x":1}`:   func(i *Issue) { i.ID = 7 },
		`{"id":[7],"labels":["b"],"title":"t","x":1}`:   func(i *Issue) { i.Labels = []Label{{Name: "b"}} },
		`{"id":[7],"labels":[],"title":"t","x":1}`:      func(i *Issue) { i.Labels = []Label{} },
		`{"id":[7],"title":"t","x":1}`:                  func(i *Issue) { i.Labels = nil },
		`{"id":[7],"labels":["a",5],"x":1}`:             func(i *Issue) { i.Title = "" },
		`{"id":[7],"labels":["a"],"title":"t"}`:         func(i *Issue) { delete(i.Extra, "labels"); delete(i.Extra, "x") },
		`{"id":[8],"labels":["a",5],"title":"t","x":1}`: func(i *Issue) { i.Extra["id"] = json.RawMessage("[8]") },
	} {
		var issue Issue
		require.NoError(t, json.Unmarshal([]byte(document), &issue))
		edit(&issue)
		text, err := json.Marshal(issue)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(text))
		assert.Len(t, text, len(want), "a key is written once")
		var again Issue
		require.NoError(t, json.Unmarshal(text, &again))
		if want != document {
			assert.Equal(t, issue.Labels, again.Labels)
		}
		assert.Equal(t, issue.ID, again.ID)
	}
}

// What JSON cannot represent is an error.
func TestMarshalErrors(t *testing.T) {
	const notJSON = "error calling MarshalJSON for type"
	for _, row := range []struct {
		value any
		want  string
	}{
		{Issue{Extra: map[string]json.RawMessage{"x": json.RawMessage(`1,"y":2`)}}, notJSON},
		{Issue{Extra: map[string]json.RawMessage{"title": json.RawMessage(`}`)}}, notJSON},
		{Issue{Title: "t", Extra: map[string]json.RawMessage{"title": json.RawMessage(`}`)}}, notJSON},
		{Issue{DueDate: Date{2026, 2, 30}}, "forge: 2026-02-30 is not a date of the calendar"},
		{Issue{DueDate: Date{2026, 2, 30}, Extra: map[string]json.RawMessage{"x": json.RawMessage(`{`)}}, "forge: 2026-02-30 is not a date of the calendar"}, // the first error
		{RunnerJob{Duration: new(math.Inf(1))}, "unsupported value: +Inf"},
		{Issue{CreatedAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, "year outside of range [0,9999]"},
		{Issue{Author: UserSummary{Extra: map[string]json.RawMessage{"x": json.RawMessage(`{`)}}}, notJSON},
	} {
		_, err := json.Marshal(row.value)
		require.ErrorContains(t, err, row.want)
	}
}

// Unmarshal replaces the value; null changes nothing; another JSON type is an error.
func TestUnmarshalReplaces(t *testing.T) {
	issue := Issue{ID: 1, Title: "old", Labels: []Label{{Name: "old"}}, Extra: map[string]json.RawMessage{"x": nil}}
	require.NoError(t, json.Unmarshal([]byte("null"), &issue))
	assert.Equal(t, "old", issue.Title)
	for _, text := range []string{"5", `"x"`, "[]", "true"} {
		err := json.Unmarshal([]byte(text), &issue)
		var wrong *json.UnmarshalTypeError
		require.ErrorAs(t, err, &wrong, text)
		assert.Equal(t, reflect.TypeFor[Issue](), wrong.Type)
	}
	assert.Equal(t, "old", issue.Title, "an error changes nothing")
	require.NoError(t, json.Unmarshal([]byte(`{"id":2}`), &issue))
	assert.Equal(t, Issue{ID: 2}, issue)
}

// gob cannot carry all values, as doc.go states.
func TestMarshalOtherEncoders(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, gob.NewEncoder(&out).Encode(Issue{ID: 1, Weight: new(0)}))
	var issue Issue
	require.NoError(t, gob.NewDecoder(&out).Decode(&issue))
	assert.Equal(t, Issue{ID: 1}, issue, "gob loses pointers to zero")
	assert.Error(t, gob.NewEncoder(&out).Encode(ApplicationSettings{}))
}

// Pointers of which one is nil differ.
func TestIsSameField(t *testing.T) {
	label, none := reflect.ValueOf(&Label{Name: "a"}), reflect.ValueOf((*Label)(nil))
	assert.True(t, isSameField(label, reflect.ValueOf(&Label{Name: "a"})) && isSameField(none, none))
	for v, want := range map[any]bool{new(1): true, "": false, 1: false} {
		assert.Equal(t, want, canBeNil(reflect.TypeOf(v).Kind()))
	}
	assert.True(t, canBeNil(reflect.Map) && canBeNil(reflect.Slice))
	assert.False(t, isSameField(label, none) || isSameField(none, label) || isSameField(label, reflect.ValueOf(&Label{Name: "b"})))
}
