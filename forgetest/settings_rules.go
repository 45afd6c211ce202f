package forgetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// settingsUpdate is one change of the settings on its way to becoming current.
type settingsUpdate struct {
	*call
	to    *Document       // the settings with the change
	given map[string]bool // the settings that the call names
}

// read takes over what is given. A value of another type is refused.
func (u *settingsUpdate) read() *answer {
	var problems []string
	for i, f := range u.to.shape.fields {
		value, given := u.setting(f.Name)
		if !given || f.Name == "id" || f.Format != "" || !f.Only.licensed(u.Server) {
			continue
		}
		if text, isText := value.(string); isText && u.gitlab && deployedDecimals[f.Name] {
			value = json.Number(text) // what deployed servers show they take
		}
		parsed, fits := f.parse(value)
		if !fits {
			problems = append(problems, u.deployedName(f.Name)+" is invalid")
			continue
		}
		u.to.values[i], u.given[f.Name] = parsed, true
	}
	if len(problems) > 0 {
		return fail(refused(http.StatusBadRequest, problems...))
	}
	return nil
}

// settingAliases are deprecated names of settings; both names always show the same value.
func settingAliases() map[string]string {
	return map[string]string{
		"admin_notification_email":                     "abuse_notification_email",
		"allow_local_requests_from_hooks_and_services": "allow_local_requests_from_web_hooks_and_services",
		"asset_proxy_whitelist":                        "asset_proxy_allowlist",
		"signin_enabled":                               "password_authentication_enabled_for_web",
	}
}

// newSetting is the value of a setting under its new name, oldSetting that under its old one: signin_enabled is text.
func newSetting(old string, value any) any {
	if text, isText := value.(string); isText && old == "signin_enabled" {
		return text == "true"
	}
	return value
}

func oldSetting(old string, value any) any {
	if on, isBool := value.(bool); isBool && old == "signin_enabled" {
		return strconv.FormatBool(on)
	}
	return value
}

// mirrorAliases shows each setting under its old name too.
func (d *Document) mirrorAliases() *Document {
	for old, name := range settingAliases() {
		d.values[d.shape.index[old]] = oldSetting(old, d.Get(name))
	}
	return d
}

// joinAliases gives the new name the value that came under the old one. The documents do not say which of two different
// values wins: they are refused.
func (u *settingsUpdate) joinAliases() *answer {
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
		return fail(refused(http.StatusBadRequest, problems...))
	}
	return nil
}

// check holds the new values to the limits of the contract.
func (u *settingsUpdate) check() *answer {
	problems := map[string][]string{}
	params := map[string]parameter{}
	for _, p := range u.route.endpoint.BodyParams {
		params[p.Name] = p
	}
	for name := range u.given {
		if problem := u.problem(name, params[name]); problem != "" {
			problems[u.deployedName(name)] = []string{problem}
		}
	}
	if len(problems) > 0 {
		return fail(answer{status: http.StatusBadRequest, doc: map[string]any{"message": problems}})
	}
	return nil
}

// problem says what is wrong with the new value of a setting, or nothing. p is zero for one that only responses have.
func (u *settingsUpdate) problem(name string, p parameter) string {
	if needed := p.unmet(u.to.bool); needed != "" {
		return needed
	}
	switch value := u.to.Get(name).(type) {
	case int64:
		return p.outOfRange(value, lowestSetting(name))
	case float64:
		return p.outOfRange(int64(value), lowestSetting(name))
	case []any:
		return p.repeated(value)
	case string:
		return p.misformed(value)
	}
	return ""
}

// lowestSetting is the least value where the contract gives none: a size, a count or a period is not negative, and a key
// restriction of -1 forbids the keys.
func lowestSetting(name string) int64 {
	if strings.HasSuffix(name, "_key_restriction") {
		return -1
	}
	return 0
}

func (p parameter) outOfRange(n, lowest int64) string {
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

// repeated refuses an item that is there twice where the contract lists the possible lists.
func (p parameter) repeated(items []any) string {
	for i, item := range items {
		if len(p.ItemEnum) > 0 && slices.Contains(items[:i], item) {
			return "has a value twice"
		}
	}
	return ""
}

// misformed says what is wrong with a text that has a form.
func (p parameter) misformed(text string) string {
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, text) {
		return "does not have a valid value"
	}
	switch {
	case text == "":
	case p.MinText != "":
		return shorterThan(text, p.MinText)
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

// shorterThan refuses an age that cannot be read or that is too short.
func shorterThan(text, least string) string {
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
