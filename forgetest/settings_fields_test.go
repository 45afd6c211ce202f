package forgetest

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/racetest"
)

// documentedSettings returns the types of the fields of Document 3 §2.1 without the identity. "texts" is an array of
// string, "weights" the object of names and integers, "protection" the one of the defaults for branches.
func documentedSettings() map[string]string {
	kinds := map[string]string{}
	for _, f := range settingFields() {
		kind := f.Type
		switch {
		case f.Name == "id" || f.Format == "timestamp":
			continue
		case f.Items != nil && f.Items.Type == "string":
			kind = "texts"
		case f.Values != nil:
			kind = "weights"
		case f.Ref != "":
			kind = "protection"
		case f.Nullable && f.Type != "boolean":
			kind += " or null"
		}
		kinds[f.Name] = kind
	}
	return kinds
}

// shownTrials returns values for a field of a documented type, and values of other types. Null
// comes after a value.
func shownTrials(kind string) []trial {
	list, object := []any{}, map[string]any{}
	bare, mayBeNull := strings.CutSuffix(kind, " or null")
	var all []trial
	switch bare {
	case "boolean":
		all = append(legal(true, false), illegal("1", 1, list, object)...)
		all = append(append(append(all, textOf("true", true)...), textOf("False", false)...), badForm("1"))
	case "integer":
		all = append(legal(0.0, 8.0, 5.0), illegal(1.5, "x", true, list, object)...)
		all = append(append(all, textOf("9", 9.0)...), badForm("x"))
	case "number":
		all = append(legal(1.5, 0.0, 2.0), illegal("1.x", true, list, object)...)
		all = append(append(all, textOf("2.5", 2.5)...), badForm("x"))
	case "string":
		all = append(legal("one", "", "two"), illegal(1, true, list, object)...)
		all = append(all, formOf("a b", "a b"), formOf("4711", "4711"))
	case "array":
		all = append(append(legal([]any{"a", "b"}, list, []any{"c"}), illegal(1, true, object)...), textOf("a,b", []any{"a", "b"})...)
	case "texts":
		all = append(append(legal([]any{"a", "b"}, list, []any{"c"}), illegal(1, true, object, []any{1}, []any{"a", nil})...), textOf("a,b", []any{"a", "b"})...)
	case "weights":
		all = append(legal(map[string]any{"a": 1.0, "b": 99.0}, object), illegal(1, true, "a", list, map[string]any{"a": "b"}, map[string]any{"a": 1.5})...)
	case "protection":
		level := func(value any) []any { return []any{map[string]any{"access_level": value}} }
		all = append(legal(map[string]any{"allow_force_push": true, "allowed_to_push": level(40.0), "allowed_to_merge": level(30.0)}, object,
			map[string]any{"allowed_to_merge": list, "other": "x"}), illegal(1, true, "a", list)...)
		all = append(all, trial{value: map[string]any{"allowed_to_push": level("40")}, legal: true, shown: map[string]any{"allowed_to_push": level(40.0)}})
		for _, name := range []string{"allowed_to_push", "allowed_to_merge"} {
			all = append(all, illegal(map[string]any{name: level("x")}, map[string]any{name: level(nil)}, map[string]any{name: []any{40}},
				map[string]any{name: object}, map[string]any{name: true})...)
		}
		all = append(all, illegal(map[string]any{"allow_force_push": "x"}, map[string]any{"allow_force_push": nil})...)
	default:
		all = append(legal(map[string]any{"a": true}, object), illegal(1, true, "a", list)...)
	}
	if mayBeNull {
		return append(all, legal(nil)...)
	}
	return append(all, illegal(nil)...)
}

// shownAs reports whether a value has a documented type.
func shownAs(kind string, value any) bool {
	bare, mayBeNull := strings.CutSuffix(kind, " or null")
	switch v := value.(type) {
	case nil:
		return mayBeNull
	case bool:
		return bare == "boolean"
	case float64:
		return bare == "number" || bare == "integer" && v == float64(int64(v))
	case string:
		return bare == "string"
	case []any:
		return bare == "array" || bare == "texts"
	}
	return slices.Contains([]string{"object", "weights", "protection"}, bare)
}

// Every field of §2.1 has its type from the start, where "or null" is null. It stores the value of
// a call that sets it alone, with any values of the other settings. Another type is rejected.
// TestSettingsKeepWhatWasSent tests the fields that are also parameters.
func TestSettingsHaveTheirTypes(t *testing.T) {
	racetest.SkipSequential(t)
	kinds := documentedSettings()
	require.Len(t, kinds, 139)
	parameters := map[string]parameter{}
	for _, p := range catalogue().endpoints["PUT "+settingsPath].BodyParams {
		parameters[p.Name] = p
	}
	for i, on := range []platformOf{{"ultimate", []Option{WithNeutralNames()}}, {"GitLab", nil}, {"free", []Option{WithTier(Free), WithNeutralNames()}}} {
		t.Run(on.name, func(t *testing.T) {
			s := New(t, on.options...)
			m := &meeting{caller: newCaller(t, s), srv: s}
			m.before = m.get(settingsPath)
			shown, tried := m.before.object(t), 0
			for _, name := range slices.Sorted(maps.Keys(kinds)) {
				kind := kinds[name]
				p, isParameter := parameters[name]
				p.Name = name
				value, is := shown[inWords(s, name)]
				sold := soldSetting(s, p)
				assert.Equal(t, sold, is, name)
				if !s.neutral && deployedDecimals[name] {
					continue // it is text on this server
				}
				if is {
					assert.True(t, shownAs(kind, value), "%s is %v", name, value)
					assert.Equal(t, strings.HasSuffix(kind, " or null"), value == nil, "%s is %v", name, value)
				}
				if isParameter {
					continue
				}
				if name == "enforce_terms" {
					p.Type, p.Requires = "boolean", []string{"terms"}
				}
				for _, x := range shownTrials(kind) {
					if tried++; !triedOn(on, i, tried) {
						continue
					}
					for _, problem := range m.try(x, p, sold) {
						t.Errorf("%s = %s (form: %t): %s", name, asJSON(t, x.value), x.text, problem)
					}
				}
			}
			assert.Greater(t, tried, 700)
		})
	}
}

// The settings have the time of their creation and the time of their latest update. A rejected
// update does not change the times.
func TestSettingTimes(t *testing.T) {
	s := New(t)
	now := noon()
	s.SetClock(func() time.Time { return now })
	c := newCaller(t, s)
	stamps := func(r reply) []any {
		object := r.object(t)
		return []any{object["created_at"], object["updated_at"], object["id"]}
	}
	const first, later = "2026-03-04T12:00:00.000Z", "2026-03-04T13:00:00.000Z"
	assert.Equal(t, []any{first, first, 1.0}, stamps(c.get(settingsPath)))
	now = now.Add(time.Hour)
	assert.Equal(t, []any{first, first, 1.0}, stamps(c.get(settingsPath)))
	assert.Equal(t, []any{first, later, 1.0}, stamps(c.put(settingsPath, map[string]any{"id": 7, "created_at": later, "admin_mode": true})))
	now = now.Add(time.Hour)
	require.Equal(t, 400, c.put(settingsPath, map[string]any{"admin_mode": 7}).Status)
	assert.Equal(t, []any{first, later, 1.0}, stamps(c.get(settingsPath)))
}

// Every administrator can read and change the settings. No other user can, not even an auditor or
// an Owner of groups.
func TestSettingsNeedAnAdministrator(t *testing.T) {
	s := New(t)
	auditor, owner := s.AddUser("auditor"), s.AddUser("owner")
	auditor.Edit(func(d *Document) { d.Set("is_auditor", true) })
	s.AddGroup("group").AddMember(owner, Owner)
	root := newCaller(t, s)
	before := root.get(settingsPath).Body
	for name, token := range map[string]string{"auditor": auditor.Token, "owner": owner.Token, "nobody": s.AddUser("nobody").Token} {
		c := root.as(token)
		assert.Equal(t, 403, c.get(settingsPath).Status, name)
		assert.Equal(t, 403, c.put(settingsPath, map[string]any{"admin_mode": true}).Status, name)
	}
	assert.Equal(t, 401, root.as("").put(settingsPath, map[string]any{"admin_mode": true}).Status)
	assert.Equal(t, before, root.get(settingsPath).Body)
	second := root.as(s.AddAdmin("second").Token)
	assert.Equal(t, true, second.put(settingsPath, map[string]any{"admin_mode": true}).object(t)["admin_mode"])
	assert.Equal(t, true, second.get(settingsPath).object(t)["admin_mode"])
}
