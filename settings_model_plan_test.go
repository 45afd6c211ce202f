package forge_test

import (
	"maps"
	"slices"

	forge "github.com/forge-sdk/forge-go"
)

// settingsPlan is what must become of the edits of a document.
type settingsPlan struct {
	fails    string            // why Err must not be nil
	mayFail  string            // why it, or Apply, perhaps fails
	missing  string            // why Apply must fail: a companion that nobody has
	conflict [][]string        // pairs of names; the error must have one of them
	want     map[string]any    // by the name that is not deprecated
	alias    map[string]string // the name to send under, where it is not that one
	send     map[string]bool   // of want
	maySend  map[string]bool   // sent or not
	notSent  map[string]forge.SettingReason
	must     map[string]any  // companions that are sent
	may      map[string]bool // names that may be in the update and in the report, with whatever value
}

// plan works out what must become of the edits. named are names that the vocabulary can send.
func (m *settingsModel) plan(sendable func(name string) bool) *settingsPlan {
	p := &settingsPlan{want: map[string]any{}, alias: map[string]string{}, send: map[string]bool{}, maySend: map[string]bool{},
		notSent: map[string]forge.SettingReason{}, must: map[string]any{}, may: map[string]bool{}}
	for name := range m.edited {
		v, has := m.now[name]
		base, shown := m.base[name]
		switch {
		case m.bad[name]:
			p.fails = "the edit of " + name
		case m.unclear[name] || m.perhaps[name]:
			p.unclear(name)
		case m.removed[name]:
			p.notSent[name] = forge.SettingNotSettable
		case !has || shown && sameJSON(v, base):
		default:
			p.want[name] = v
			p.send[name], p.maySend[name] = true, shown && inForce(v, base)
			if !sendable(name) {
				p.mayFail = name + " has no word"
			}
		}
	}
	for name := range m.unclear {
		p.unclear(name)
	}
	for name := range m.perhaps {
		p.mayFail = "an edit of " + name
	}
	for name := range m.renamed {
		p.unclear(name)
	}
	for name := range m.own {
		p.notSent[name] = forge.SettingNotSettable
	}
	for _, old := range slices.Sorted(maps.Keys(settingAliases)) {
		p.aliases(m, old, settingAliases[old])
	}
	for _, old := range slices.Sorted(maps.Keys(settingReplacements)) {
		for _, replacement := range settingReplacements[old] {
			p.replaced(old, replacement)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.facts.companions)) {
		p.companions(m, name)
	}
	p.needs(m)
	return p
}

func (p *settingsPlan) unclear(name string) {
	p.may[name] = true
	p.mayFail = "unclear edits of " + name
	delete(p.want, name)
	for old, replacement := range settingAliases {
		if name == old || name == replacement {
			p.may[old], p.may[replacement] = true, true
		}
	}
}

// aliases makes one edit of the edits of two names.
func (p *settingsPlan) aliases(m *settingsModel, old, name string) {
	a, oldEdited := p.want[old]
	b, edited := p.want[name]
	if p.may[old] || p.may[name] {
		delete(p.want, old)
		delete(p.want, name)
		return
	}
	if !oldEdited && !edited {
		return
	}
	delete(p.want, old)
	moved := underOtherName(name, a)
	_, isText := moved.(string)
	switch {
	case oldEdited && old == "signin_enabled" && isText: // neither "true" nor "false"
		p.unclear(name)
		delete(p.want, name)
		return
	case oldEdited && edited && !inForce(moved, b):
		p.fails, p.conflict = old+" and "+name+" differ", append(p.conflict, []string{old, name})
		return
	case oldEdited && edited && !sameJSON(moved, b):
		p.mayFail, p.maySend[name] = old+" and "+name+" are not quite the same", true
	case oldEdited && !edited:
		p.want[name], p.send[name] = moved, true
		shown, isShown := m.base[name]
		p.maySend[name] = p.maySend[old] || isShown && inForce(moved, shown)
	}
	past, oldShown := m.base[old]
	if _, shown := m.base[name]; oldShown && !shown {
		p.alias[name] = old
		if inForce(p.want[name], underOtherName(name, past)) {
			p.maySend[name] = true
		}
	}
}

// replaced keeps a deprecated setting from being sent beside its replacement.
func (p *settingsPlan) replaced(old, name string) {
	a, oldEdited := p.want[old]
	b, edited := p.want[name]
	switch {
	case p.may[old] && (edited || p.may[name]), oldEdited && p.may[name]:
		p.mayFail, p.may[old] = "unclear edits of "+old+" or "+name, true
		delete(p.want, old)
	case !oldEdited || !edited:
	case !inForce(a, b):
		p.fails, p.conflict = old+" and "+name+" differ", append(p.conflict, []string{old, name})
	case !sameJSON(a, b):
		p.mayFail, p.may[old] = old+" and "+name+" are not quite the same", true
	default:
		p.notSent[old] = forge.SettingDeprecated
		p.send[old] = false
	}
}

// companions adds what enabling a setting requires.
func (p *settingsPlan) companions(m *settingsModel, name string) {
	fact := m.facts.byName[name]
	enabled := p.want[name] == true && p.send[name]
	for _, companion := range m.facts.companions[name] {
		value, shown := m.base[companion]
		_, edited := p.want[companion]
		other := m.facts.byName[companion]
		switch {
		case p.may[name]:
			p.may[companion], p.mayFail = true, "perhaps "+name+" requires "+companion
		case !enabled || edited && p.send[companion] && !p.maySend[companion]:
		case p.maySend[name] || fact == nil || p.may[companion] || edited || m.edited[companion] || shown && (blank(value) || !rightKind(other, value)):
			p.may[companion], p.mayFail = true, "perhaps "+name+" requires "+companion
		case shown:
			p.must[companion] = value
		case len(other.tiers) == 0:
			p.missing = name + " requires " + companion
		}
	}
}

// needs is the rule of unconfirmed_users_delete_after_days, which works only with delete_unconfirmed_users.
func (p *settingsPlan) needs(m *settingsModel) {
	_, edited := p.want["unconfirmed_users_delete_after_days"]
	if p.want["delete_unconfirmed_users"] == true || !edited && !p.may["unconfirmed_users_delete_after_days"] {
		return
	}
	if m.base["delete_unconfirmed_users"] == true {
		if !m.edited["delete_unconfirmed_users"] {
			p.may["delete_unconfirmed_users"] = true // sent as a companion, perhaps
		}
		return
	}
	p.may["delete_unconfirmed_users"], p.mayFail = true, "unconfirmed_users_delete_after_days needs delete_unconfirmed_users"
}

// sent are the names of the changes, without companions.
func (p *settingsPlan) sent() (must, may map[string]any) {
	must, may = map[string]any{}, map[string]any{}
	for name, v := range p.want {
		switch {
		case p.may[name] || p.maySend[name]:
			may[name] = v
		case p.send[name]:
			must[name] = v
		}
	}
	return must, may
}
