package forgetest

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// settingsUpdate is a change of the settings that is not yet published.
type settingsUpdate struct {
	call  *call
	to    *Document       // the settings with the change
	given map[string]bool // names of the settings in the call
}

// read sets the values of the call. It rejects a value of a wrong type.
func (u *settingsUpdate) read() *response {
	var problems []string
	for i, f := range u.to.shape.fields {
		value, given := u.call.setting(f.Name)
		if !given || f.Name == "id" || f.Format != "" || !f.Only.available(u.call.server) {
			continue
		}
		parsed, fits := f.parse(value)
		if !fits {
			problems = append(problems, u.call.deployedName(f.Name)+" is invalid")
			continue
		}
		u.to.values[i], u.given[f.Name] = parsed, true
	}
	if len(problems) > 0 {
		return fail(rejected(http.StatusBadRequest, problems...))
	}
	return nil
}

// settingAliases returns deprecated names of settings and the names that replace them. Both names
// always show the same value.
func settingAliases() map[string]string {
	return map[string]string{
		"admin_notification_email":                     "abuse_notification_email",
		"allow_local_requests_from_hooks_and_services": "allow_local_requests_from_web_hooks_and_services",
		"asset_proxy_whitelist":                        "asset_proxy_allowlist",
		"signin_enabled":                               "password_authentication_enabled_for_web",
	}
}

// newSetting returns the value that a setting has under its new name, oldSetting the value under
// its old name. They differ for signin_enabled, which is text.
func newSetting(old string, value any) any {
	if old == "signin_enabled" {
		return value == "true"
	}
	return value
}

func oldSetting(old string, value any) any {
	if old == "signin_enabled" {
		return strconv.FormatBool(value == true)
	}
	return value
}

// mirrorAliases sets each setting that has an old name under that name, too.
func (d *Document) mirrorAliases() *Document {
	for old, name := range settingAliases() {
		d.values[d.shape.index[old]] = oldSetting(old, d.Get(name))
	}
	return d
}

// joinAliases copies a value from the old name of a setting to the new one. It rejects two
// different values, since the documents do not specify which of them applies.
func (u *settingsUpdate) joinAliases() *response {
	var problems []string
	for old, name := range settingAliases() {
		value := newSetting(old, u.to.Get(old))
		switch {
		case !u.given[old]:
		case old == "signin_enabled" && !slices.Contains([]any{"true", "false"}, u.to.Get(old)):
			problems = append(problems, old+" does not have a valid value")
		case u.given[name] && !reflect.DeepEqual(value, u.to.Get(name)):
			problems = append(problems, old+", "+name+" are mutually exclusive")
		default:
			u.to.values[u.to.shape.index[name]] = value
		}
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		return fail(rejected(http.StatusBadRequest, problems...))
	}
	return nil
}

// check compares the new values with the limits of the contract.
func (u *settingsUpdate) check() *response {
	problems := map[string][]string{}
	params := map[string]parameter{}
	for _, p := range u.call.route.endpoint.BodyParams {
		params[p.Name] = p
	}
	for name := range u.given {
		if problem := u.problem(name, params[name]); problem != "" {
			problems[u.call.deployedName(name)] = []string{problem}
		}
	}
	if len(problems) > 0 {
		return fail(response{status: http.StatusBadRequest, doc: map[string]any{"message": problems}})
	}
	return nil
}

// problem describes why the new value of a setting is invalid; "" for a valid one. p is zero for a
// setting that only responses have.
func (u *settingsUpdate) problem(name string, p parameter) string {
	if needed := p.unmetNeed(u.to.bool); needed != "" {
		return needed
	}
	switch value := u.to.Get(name).(type) {
	case int64:
		return p.rangeProblem(value, lowestSetting(name))
	case float64:
		return p.rangeProblem(int64(value), lowestSetting(name))
	case []any:
		return p.duplicateProblem(value)
	case string:
		return p.formatProblem(value)
	}
	return ""
}

// lowestSetting returns the minimum of a setting for which the contract has none. A size, a count
// or a period cannot be negative, and a key restriction of -1 forbids the keys.
func lowestSetting(name string) int64 {
	if strings.HasSuffix(name, "_key_restriction") {
		return -1
	}
	return 0
}

func (p parameter) rangeProblem(n, lowest int64) string {
	if p.Min != nil {
		lowest = *p.Min
	}
	switch {
	case n < lowest:
		return fmt.Sprintf("must be greater than or equal to %d", lowest)
	case p.Max != nil && n > *p.Max:
		return fmt.Sprintf("must be less than or equal to %d", *p.Max)
	}
	return ""
}

// duplicateProblem rejects an item that occurs twice, if the contract lists the possible items.
func (p parameter) duplicateProblem(items []any) string {
	for i, item := range items {
		if len(p.ItemEnum) > 0 && slices.Contains(items[:i], item) {
			return "has a value twice"
		}
	}
	return ""
}

// formatProblem describes why a text with a format is invalid; "" for a valid one.
func (p parameter) formatProblem(text string) string {
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, text) {
		return "does not have a valid value"
	}
	switch {
	case text == "":
	case p.MinText != "":
		return minAgeProblem(text, p.MinText)
	case p.Name == "spam_check_endpoint_url":
		if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "grpc" && u.Scheme != "tls" {
			return "is blocked: Only allowed schemes are grpc, tls"
		}
	case p.Name == "email_restrictions":
		if _, err := regexp.Compile(text); err != nil {
			return "not valid RE2 syntax"
		}
	}
	return ""
}

// minAgeProblem rejects an age that is invalid or too short.
func minAgeProblem(text, least string) string {
	age, readable := parseAge(text)
	needed, _ := parseAge(least)
	switch {
	case !readable:
		return "is invalid"
	case age < needed:
		return "must be at least " + least
	}
	return ""
}
