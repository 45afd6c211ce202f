package forge_test

import (
	"cmp"
	"reflect"
	"slices"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// settingsPlan is what is expected of the edits of a document.
type settingsPlan struct {
	refused  bool           // Diff has an error
	changes  map[string]any // wanted values, by the name that is not deprecated
	notSent  map[string]forge.SettingReason
	fails    bool           // Apply has an error
	required map[string]any // settings that the changes require
	body     map[string]any // of the update, with the server's names
}

// plan returns the expected changes.
func (m *settingsModel) plan() *settingsPlan {
	p := &settingsPlan{refused: m.broken, changes: map[string]any{}, notSent: map[string]forge.SettingReason{}}
	for name, v := range m.now {
		if old, shown := m.base[name]; !shown || !sameValue(name, v, old) {
			p.changes[name] = v
		}
	}
	for name := range m.base {
		if _, has := m.now[name]; !has {
			p.notSent[name] = forge.SettingNotSettable
		}
	}
	for old, name := range settingAliases {
		p.combine(m, old, name)
	}
	for old, replacements := range settingReplacements {
		v, edited := p.changes[old]
		for _, name := range replacements {
			if other, also := p.changes[name]; edited && also {
				p.refused = p.refused || !reflect.DeepEqual(v, other)
				p.notSent[old] = forge.SettingDeprecated
				delete(p.changes, old)
			}
		}
	}
	return p
}

// combine combines the edits of the two names of a setting.
func (p *settingsPlan) combine(m *settingsModel, old, name string) {
	v, oldEdited := p.changes[old]
	moved := underOtherName(name, v)
	_, isText := moved.(string)
	p.refused = p.refused || old == "signin_enabled" && isText // neither "true" nor "false"
	delete(p.changes, old)
	if other, edited := p.changes[name]; oldEdited && edited {
		p.refused = p.refused || !reflect.DeepEqual(moved, other)
	} else if oldEdited {
		p.changes[name] = moved
	}
	want, wanted := p.changes[name]
	if shown, isShown := shownAs(name, m.base); wanted && isShown && reflect.DeepEqual(want, shown) {
		delete(p.changes, name)
	}
}

// send computes the update of the changes, for a server with its own words.
func (p *settingsPlan) send(m *settingsModel, words map[string]string) {
	p.required, p.body = map[string]any{}, map[string]any{}
	for name, companions := range m.companions {
		for _, companion := range companions {
			_, changed := p.changes[companion]
			switch value := m.now[companion]; {
			case p.changes[name] != true || changed:
			case value != nil:
				p.required[companion] = value
			default:
				p.fails = p.fails || !m.tiers[companion]
			}
		}
	}
	p.fails = p.fails || p.refused
	for _, settings := range []map[string]any{p.changes, p.required} {
		for name, v := range settings {
			old := partnerOf(name)
			_, isShown := m.base[name]
			if _, oldShown := m.base[old]; oldShown && !isShown {
				name, v = old, underOtherName(old, v)
			}
			p.fails = p.fails || words != nil && slices.Contains(catalogue.UnnamedSettings(), name)
			p.body[cmp.Or(words[name], name)] = v
		}
	}
}

// told returns the expected Changes and NotSent of Diff, as text.
func (p *settingsPlan) told(m *settingsModel) (changes, notSent []string) {
	for name := range p.changes {
		changes = append(changes, tell(name, "", m.base, p.changes))
	}
	for name, reason := range p.notSent {
		notSent = append(notSent, tell(name, reason, m.base, m.now))
	}
	slices.Sort(changes)
	slices.Sort(notSent)
	return changes, notSent
}

// report returns the expected NotApplied of a server that shows these settings, as text.
func (p *settingsPlan) report(m *settingsModel, shown map[string]any) (list []string) {
	for _, settings := range []map[string]any{p.changes, p.required} {
		for name, want := range settings {
			if have, isShown := shownAs(name, shown); !isShown || !inForce(name, want, have) {
				list = append(list, tell(name, m.reason(name, isShown), shown, settings))
			}
		}
	}
	for name, reason := range p.notSent {
		want, wanted := m.now[name]
		have, isShown := shownAs(name, shown)
		if wanted != isShown || wanted && !inForce(name, want, have) {
			list = append(list, tell(name, reason, shown, m.now))
		}
	}
	slices.Sort(list)
	return list
}

// reason returns why a setting that was sent is not in force.
func (m *settingsModel) reason(name string, isShown bool) forge.SettingReason {
	switch {
	case isShown && m.fields[name] != "" && !m.settable[name]:
		return forge.SettingNotSettable
	case isShown:
		return forge.SettingNotApplied
	case slices.Contains(secretSettings, name):
		return forge.SettingSecret
	case m.tiers[name]:
		return forge.SettingTier
	}
	return forge.SettingNotShown
}

// tell returns a difference as text. Texts have the order of the names.
func tell(name string, reason forge.SettingReason, shown, wanted map[string]any) string {
	text := name + " (" + string(reason) + ")"
	if v, isShown := shownAs(name, shown); isShown {
		text += " shown: " + string(writeJSON(normal(name, v)))
	}
	if v, isWanted := wanted[name]; isWanted {
		text += " wanted: " + string(writeJSON(normal(name, v)))
	}
	return text
}

// tellAll returns differences as text.
func tellAll(list []forge.SettingDifference) (texts []string) {
	for _, d := range list {
		shown, wanted := map[string]any{}, map[string]any{}
		if d.Got != nil {
			shown[d.Name] = readJSON(d.Got)
		}
		if d.Want != nil {
			wanted[d.Name] = readJSON(d.Want)
		}
		texts = append(texts, tell(d.Name, d.Reason, shown, wanted))
	}
	return texts
}
