package forge

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// setting is what is known about one name of a setting. settingTable has all names.
type setting struct {
	name       string   // in JSON: GitLab's word
	neutral    string   // the documents' word, if it is another
	field      string   // of ApplicationSettings; empty if this package does not know the name
	kind       string   // JSON type
	isStruct   bool     // its keys have fields, too
	isSettable bool     // UpdateSettingsOptions has the field
	isUnnamed  bool     // the contract describes it without a name
	isOfTier   bool     // only Premium and Ultimate have it
	isAlias    bool     // it is the old one of two names of one setting
	other      string   // the other one of two names; a server shows the value under both
	needs      []string // settings that an update requires if this one is true
	replacedBy []string // settings that replace it, if it is deprecated
}

// settingNamed returns the setting of a name. A name that the table lacks is that of a setting
// without a field.
func settingNamed(name string) *setting {
	if i, known := sort.Find(len(settingTable), func(i int) int { return strings.Compare(name, settingTable[i].name) }); known {
		return &settingTable[i]
	}
	return &setting{name: name}
}

// current returns the setting under its current name.
func (s *setting) current() *setting {
	if s.isAlias {
		return settingNamed(s.other)
	}
	return s
}

// form returns a value of another name of the setting in the form of this one. If their types
// differ, one is a boolean and the other its text.
func (s *setting) form(value json.RawMessage, of *setting) json.RawMessage {
	switch text := strings.Trim(string(value), " \t\r\n\""); {
	case s.kind == of.kind || text != "true" && text != "false":
		return value
	case s.kind == "string":
		return json.RawMessage(`"` + text + `"`)
	default:
		return json.RawMessage(text)
	}
}

// misfit returns the reason why the field cannot hold a value; "" if it can, or if there is no
// field. A number in a string is accepted in responses, but never sent.
func (s *setting) misfit(value json.RawMessage) string {
	var r jsonread.Reader
	r.Reset(jsonread.Join(settingValues{s.name: value}))
	if decodeValue(&r, new(ApplicationSettings)) != nil {
		return ""
	}
	misfits := r.Mismatches()
	if isNumber := s.kind == "integer" || s.kind == "number"; isNumber && strings.HasPrefix(string(value), `"`) {
		misfits = []jsonread.Mismatch{{Want: s.kind, Got: "string"}}
	}
	if len(misfits) == 0 {
		return ""
	}
	return "its type is " + misfits[0].Want + ", and the value is a JSON " + misfits[0].Got
}

// isSecret reports whether the value is a key, a token, a secret or a password. It goes by the
// name, since servers have settings that the contract does not name.
func (s *setting) isSecret() bool {
	ends := []string{"_key", "_token", "_secret", "_password", "_pass", "_passphrase", "_salt", "_credentials"}
	return (s.kind == "string" || s.field == "") && slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(s.name, end) })
}

// isIdentity reports whether a key of the settings object is not a setting.
func isIdentity(name string) bool {
	return name == "id" || name == "created_at" || name == "updated_at"
}

// isSame compares two values of a setting. Servers write an empty value as null or as an empty
// value, omit it in an object that is a struct here, and write decimals as text.
func (s *setting) isSame(a, b json.RawMessage) bool {
	left, leftOK := jsonread.Parse(a)
	right, rightOK := jsonread.Parse(b)
	if s.isStruct {
		left, right = withoutEmpty(left), withoutEmpty(right)
	}
	if left == nil || right == nil {
		return leftOK && rightOK && isEmpty(left) && isEmpty(right)
	}
	return reflect.DeepEqual(left, right) || isNumberText(left, right) || isNumberText(right, left)
}

// withoutEmpty removes the empty keys of an object. Other values are returned unchanged.
func withoutEmpty(value any) any {
	if members, isObject := value.(map[string]any); isObject {
		maps.DeleteFunc(members, func(_ string, member any) bool { return isEmpty(member) })
	}
	return value
}

// isEmpty reports whether a value is null or means the same to a server. 0 is not empty.
func isEmpty(value any) bool {
	v := reflect.ValueOf(value)
	return !v.IsValid() || v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

// isNumberText reports whether text holds a number.
func isNumberText(text, number any) bool {
	digits, isText := text.(string)
	return isText && jsonread.Numeral(digits) == number
}

// settingValues are values of settings by name.
type settingValues map[string]json.RawMessage

// of returns the value of a setting, under either of its names; nil if there is none.
func (v settingValues) of(s *setting) json.RawMessage {
	if value := v[s.name]; value != nil || s.other == "" {
		return value
	}
	return s.form(v[s.other], settingNamed(s.other))
}

// join moves the values of old names to the current names, if these have none.
func (v settingValues) join() {
	for i := range settingTable {
		if old := &settingTable[i]; old.isAlias && v[old.name] != nil {
			v[old.other] = v.of(old.current())
			delete(v, old.name)
		}
	}
}

// companions returns what a document has of the settings that enabled ones require and that have no
// value here. missing is the error for one that the document lacks,
// too. A setting of a tier is not missing, since only some servers have it.
func (v settingValues) companions(document settingValues) (companions settingValues, missing error) {
	companions = settingValues{}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		for _, need := range settingNamed(name).needs {
			s := settingNamed(need)
			switch value := document.of(s); {
			case !isValue(v[name], "true") || v[need] != nil:
			case value != nil && !isValue(value, "null"):
				companions[need] = value
			case !s.isOfTier:
				missing = firstError(missing, &ValidationError{Param: need, Reason: "it must be set if " + name + " is true"})
			}
		}
	}
	return companions, missing
}

// checkReplaced rejects a deprecated setting together with one that replaces it. In a document,
// both may have the same value, and the value under an old name must fit the current one.
func (v settingValues) checkReplaced(inDocument bool) error {
	for i := range settingTable {
		old := &settingTable[i]
		for _, name := range old.replacedBy {
			reason, value, by := "", v[old.name], settingNamed(name)
			switch {
			case value == nil:
			case v[name] != nil && !inDocument:
				reason = "it is deprecated, and " + name + ", which replaces it, is set too: omit " + old.name
			case v[name] != nil && !jsonread.Equal(by.form(value, old), v[name]):
				reason = "it is deprecated, and " + name + ", which replaces it, has another value: omit " + old.name
			case old.isAlias && inDocument && by.misfit(by.form(value, old)) != "":
				reason = `it must be "true" or "false"`
			}
			if reason != "" {
				return &ValidationError{Param: old.name, Reason: reason}
			}
		}
	}
	return nil
}

// isValue reports whether a value equals the JSON in text.
func isValue(value json.RawMessage, text string) bool {
	return jsonread.Equal(value, []byte(text))
}
