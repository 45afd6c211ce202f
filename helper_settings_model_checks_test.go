package forge_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	forge "github.com/forge-sdk/forge-go"
)

// secretMark is a part of every secret of the tests, and must not be in any text.
const secretMark = "S3CR3T"

// settingsCheck compares the behaviour of the library with the plan.
type settingsCheck struct {
	*settingsPlan
	model    *settingsModel
	wireName func(wire string) string // returns the contract's name for a name of the server
	dropped  string                   // setting that was deleted from the changes
	onlyHave []string
	problems []string
}

func (c *settingsCheck) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// mainName returns the name of a setting that is not deprecated.
func mainName(name string) string { return cmp.Or(settingAliases[name], name) }

// refusal checks the error of a call that sent nothing.
func (c *settingsCheck) refusal(err error) {
	var refused *forge.ValidationError
	if !errors.As(err, &refused) {
		c.problem("the error is a %T: %v", err, err)
	}
	named := func(pair []string) bool {
		return strings.Contains(err.Error(), pair[0]) && strings.Contains(err.Error(), pair[1])
	}
	if c.bads() == 1 && c.mayFail == "" && len(c.conflict) > 0 && !slices.ContainsFunc(c.conflict, named) {
		c.problem("the error names none of %v: %v", c.conflict, err)
	}
	if strings.Contains(err.Error(), secretMark) {
		c.problem("the error has a secret: %v", err)
	}
}

// bads counts the reasons to fail that the plan knows.
func (c *settingsCheck) bads() int { return 1 + len(c.model.bad) + len(c.model.perhaps) + len(c.may) }

// diff checks the changes of a document that was edited.
func (c *settingsCheck) diff(d *forge.SettingsDiff) {
	err := d.Err()
	switch {
	case err != nil && c.fails == "" && c.mayFail == "":
		c.problem("Err: %v", err)
	case err == nil && c.fails != "":
		c.problem("no Err: %s", c.fails)
	}
	if err != nil {
		c.refusal(err)
		return
	}
	must, may := c.sent()
	found := map[string]bool{}
	for _, change := range d.Changes {
		found[change.Name] = true
		want, known := must[change.Name]
		if !known {
			want, known = may[change.Name]
		}
		switch {
		case change.Reason != "":
			c.problem("Changes has %s with the reason %q", change.Name, change.Reason)
		case c.may[change.Name]:
		case !known:
			c.problem("Changes has %s: %s to %s", change.Name, change.Got, change.Want)
		case !c.reads(change.Name, want, change.Want):
			c.problem("Changes wants %s = %s, not %s", change.Name, change.Want, writeJSON(want))
		default:
			c.have("Changes", change, c.model.base)
		}
		c.prints(change)
	}
	for name := range must {
		if !found[name] {
			c.problem("Changes omits %s = %s", name, writeJSON(must[name]))
		}
	}
	c.sorted("Changes", d.Changes)
	c.sorted("NotSent", d.NotSent)
	c.listed("NotSent", d.NotSent, c.notSent)
	only := []string(nil)
	for _, name := range d.OnlyInGot {
		if !c.may[name] {
			only = append(only, mainName(name)) // each of two names is accepted
		}
	}
	slices.Sort(only)
	if only = slices.Compact(only); !slices.Equal(only, slices.DeleteFunc(slices.Clone(c.onlyHave), func(name string) bool { return c.may[name] })) || !slices.IsSorted(d.OnlyInGot) {
		c.problem("OnlyInGot is %v, not %v", d.OnlyInGot, c.onlyHave)
	}
}

func (c *settingsCheck) reads(name string, want any, raw json.RawMessage) bool {
	v, err := readJSON(raw)
	return err == nil && (wantedAs(name, want, v) || c.maySend[name] && inForce(want, v))
}

// have checks the current value.
func (c *settingsCheck) have(where string, d forge.SettingDifference, shown map[string]any) {
	for old, name := range settingAliases {
		if _, oldShown := shown[old]; name == d.Name && oldShown {
			return // the server may show either of two names
		}
	}
	v, isShown := shown[d.Name]
	have, err := readJSON(d.Got)
	if isShown != (d.Got != nil) || isShown && (err != nil || !sameJSON(v, have)) {
		c.problem("%s has %s = %s where the server has %s", where, d.Name, d.Got, writeJSON(v))
	}
}

// prints checks that a printed difference does not show secrets.
func (c *settingsCheck) prints(d forge.SettingDifference) {
	text := fmt.Sprintf("%v %+v %#v %s", d, d, d, d)
	if isSecretSetting(d.Name) {
		out, err := json.Marshal(d)
		if text += string(out); err != nil || !d.Secret() {
			c.problem("%s is a secret: %v, %t", d.Name, err, d.Secret())
		}
	} else if fact := c.model.facts.byName[d.Name]; fact != nil && fact.kind != "string" && d.Secret() {
		c.problem("%s is not a secret", d.Name)
	}
	if strings.Contains(text, secretMark) {
		c.problem("the secret %s is printed: %s", d.Name, text)
	}
}

func (c *settingsCheck) sorted(where string, list []forge.SettingDifference) {
	for i := 1; i < len(list); i++ {
		if list[i-1].Name >= list[i].Name {
			c.problem("%s has %s before %s", where, list[i-1].Name, list[i].Name)
		}
	}
}

// listed checks that a list has the names of the plan and their reasons.
func (c *settingsCheck) listed(where string, list []forge.SettingDifference, want map[string]forge.SettingReason) {
	rest := maps.Clone(want)
	for _, d := range list {
		switch reason, known := want[d.Name]; {
		case known && reason != d.Reason:
			c.problem("%s has %s with the reason %q, not %q", where, d.Name, d.Reason, reason)
		case !known && !c.may[d.Name]:
			c.problem("%s has %s (%s)", where, d.Name, d.Reason)
		}
		delete(rest, d.Name)
		c.prints(d)
	}
	for name, reason := range rest {
		if !c.may[name] {
			c.problem("%s omits %s (%s)", where, name, reason)
		}
	}
}

// applied checks the changes of Apply on a server, and its report.
func (c *settingsCheck) applied(report *forge.SettingsReport, err error, before, after *settingsState) {
	updates := after.updates[len(before.updates):]
	if err != nil {
		if c.fails == "" && c.missing == "" && c.mayFail == "" {
			c.problem("Apply: %v", err)
		}
		c.refusal(err)
		if len(updates) > 0 || !sameJSON(before.held, after.held) {
			c.problem("Apply fails and sends %v", updates)
		}
		return
	}
	if c.fails != "" || c.missing != "" {
		c.problem("Apply does not fail: %s", cmp.Or(c.fails, c.missing))
	}
	must, _ := c.sent()
	if len(updates) > 1 || len(updates) == 0 && len(must) > 0 {
		c.problem("%d updates", len(updates))
	}
	sent := map[string]bool{}
	if len(updates) == 1 {
		sent = c.body(updates[0])
	}
	for name := range mapsUnion(before.held, after.held) {
		if !sent[mainName(name)] && !c.sameHeld(name, before, after) {
			c.problem("%s changed from %s to %s and was not sent", name, writeJSON(before.held[name]), writeJSON(after.held[name]))
		}
	}
	c.readBack(report, after)
	c.notApplied(report.NotApplied, before, after)
}

func mapsUnion(a, b map[string]any) map[string]any {
	u := maps.Clone(a)
	maps.Copy(u, b)
	return u
}

func (c *settingsCheck) sameHeld(name string, before, after *settingsState) bool {
	a, had := before.held[name]
	b, has := after.held[name]
	return had == has && sameJSON(a, b)
}

// body checks an update and returns the settings that it has.
func (c *settingsCheck) body(update map[string]any) (sent map[string]bool) {
	must, may := c.sent()
	sent = map[string]bool{}
	if len(update) == 0 {
		c.problem("an update of nothing is sent")
	}
	for wire, v := range update {
		own := c.wireName(wire)
		name := mainName(own)
		if sent[name] && !c.may[name] && !c.may[own] {
			c.problem("%s is sent under two names", name)
		}
		sent[name] = true
		want, known := must[name]
		if !known {
			want, known = may[name]
		}
		companion, isCompanion := c.must[name]
		switch {
		case c.may[name]:
		case isCompanion:
			if !sameJSON(companion, v) {
				c.problem("the companion %s is sent as %s, not %s", name, writeJSON(v), writeJSON(companion))
			}
		case !known:
			c.problem("%s = %s is sent", wire, writeJSON(v))
		case own != cmp.Or(c.alias[name], name):
			c.problem("%s is sent under the name %s", name, own)
		case !wantedAs(name, want, underOtherName(name, v)) && (!c.maySend[name] || !inForce(want, underOtherName(name, v))):
			c.problem("%s is sent as %s, not %s", name, writeJSON(v), writeJSON(want))
		case own == "signin_enabled" && v != nil && underOtherName("signin_enabled", v) != v:
			c.problem("signin_enabled is sent as %s", writeJSON(v))
		}
	}
	for name := range mapsUnion(must, c.must) {
		if !sent[name] {
			c.problem("%s is not sent", name)
		}
	}
	return sent
}

// readBack checks that the report has the server's document.
func (c *settingsCheck) readBack(report *forge.SettingsReport, after *settingsState) {
	if read := documentOf(report.Settings); !sameJSON(read, after.shown) {
		c.problem("the report reads %s where the server shows %s", writeJSON(read), writeJSON(after.shown))
	}
	if d := report.Settings.Diff(); d.Err() != nil || len(d.Changes)+len(d.NotSent)+len(d.OnlyInGot) > 0 {
		c.problem("the settings of the report have changes: %v, %v, %v", d.Changes, d.NotSent, d.Err())
	}
}

// documentOf returns a document without its id and times.
func documentOf(s *forge.ApplicationSettings) map[string]any {
	v, err := readJSON([]byte(writeDocument(s)))
	object, isObject := v.(map[string]any)
	if err != nil || !isObject {
		return map[string]any{"not a document": writeDocument(s)}
	}
	for _, name := range identitySettings {
		delete(object, name)
	}
	return object
}

// notApplied checks that the report names the settings that are not in effect, with the right
// reasons.
func (c *settingsCheck) notApplied(list []forge.SettingDifference, before, after *settingsState) {
	c.sorted("NotApplied", list)
	reported := map[string]forge.SettingDifference{}
	for _, d := range list {
		c.prints(d)
		reported[d.Name] = d
		_, wanted := c.want[d.Name]
		_, isCompanion := c.must[d.Name]
		if _, notSent := c.notSent[d.Name]; !wanted && !notSent && !isCompanion && !c.may[d.Name] {
			c.problem("NotApplied has %s (%s)", d.Name, d.Reason)
		}
	}
	for name, reason := range c.notSent {
		d, found := reported[name]
		old, isWanted := c.want[name]
		shown, isShown := after.shown[name]
		switch {
		case c.may[name] || isWanted && isShown && inForce(old, shown): // it is in effect anyway
		case !found:
			c.problem("NotApplied omits %s (%s)", name, reason)
		case d.Reason != reason:
			c.problem("NotApplied has %s with the reason %q, not %q", name, d.Reason, reason)
		}
	}
	for name, want := range c.want {
		if c.send[name] && !c.may[name] {
			d, found := reported[name]
			c.outcome(name, want, d, found, before, after)
		}
	}
	for name, want := range c.must { // a companion to which the server gave another value
		if d, found := reported[name]; !c.may[name] {
			c.outcome(name, want, d, found, before, after)
		}
	}
}

// outcome checks one requested setting.
func (c *settingsCheck) outcome(name string, want any, d forge.SettingDifference, found bool, before, after *settingsState) {
	shown, isShown := after.shown[name]
	past, wasShown := before.shown[name]
	for old, replacement := range settingAliases {
		if v, hasOld := after.shown[old]; replacement == name && !isShown && hasOld {
			shown, isShown = underOtherName(name, v), true
			past, wasShown = underOtherName(name, before.shown[old]), before.shown[old] != nil
		}
	}
	if isShown && (inForce(want, shown) || wantedAs(name, want, shown)) {
		if found {
			c.problem("NotApplied has %s (%s), which is in force: %s", name, d.Reason, writeJSON(shown))
		}
		return
	}
	if !found {
		if !c.maySend[name] || isShown {
			c.problem("NotApplied omits %s: wanted %s, shown %t %s", name, writeJSON(want), isShown, writeJSON(shown))
		}
		return
	}
	if reasons := c.reasons(name, isShown, wasShown && sameJSON(past, shown)); !slices.Contains(reasons, d.Reason) {
		c.problem("NotApplied has %s (shown: %t) with the reason %q, not one of %q", name, isShown, d.Reason, reasons)
	}
	if !c.reads(name, want, d.Want) {
		c.problem("NotApplied wants %s = %s, not %s", name, d.Want, writeJSON(want))
	}
	c.have("NotApplied", d, after.shown)
}

// reasons returns the reasons that the documents allow.
func (c *settingsCheck) reasons(name string, shown, unchanged bool) []forge.SettingReason {
	fact := c.model.facts.byName[name]
	responseOnly := fact != nil && !fact.param && name != "password_authentication_enabled_for_web"
	switch {
	case name == "require_two_factor_authentication", shown && slices.Contains([]string{"enforce_terms", "delete_unconfirmed_users"}, name),
		shown && slices.Contains(unnamedSettings, name): // the documents mention only that they can be set, or do not name them
		return []forge.SettingReason{forge.SettingNotApplied, forge.SettingNotShown, forge.SettingNotSettable}
	case shown && responseOnly && unchanged:
		return []forge.SettingReason{forge.SettingNotSettable}
	case shown && fact != nil && !fact.param:
		return []forge.SettingReason{forge.SettingNotApplied, forge.SettingNotSettable}
	case shown:
		return []forge.SettingReason{forge.SettingNotApplied}
	case isSecretSetting(name):
		return []forge.SettingReason{forge.SettingSecret}
	case name == "jira_connect_application_key":
		return []forge.SettingReason{forge.SettingSecret, forge.SettingNotShown, forge.SettingNotSettable}
	case fact != nil && len(fact.tiers) > 0 && !fact.param:
		return []forge.SettingReason{forge.SettingTier, forge.SettingNotSettable}
	case fact != nil && len(fact.tiers) > 0:
		return []forge.SettingReason{forge.SettingTier}
	case fact != nil && !fact.param:
		return []forge.SettingReason{forge.SettingNotShown, forge.SettingNotSettable}
	}
	return []forge.SettingReason{forge.SettingNotShown}
}
