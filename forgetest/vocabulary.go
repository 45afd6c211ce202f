package forgetest

import (
	"net/url"
	"strings"
	"sync"

	embedded "github.com/forge-sdk/forge-go/internal/catalogue"
)

// terms maps neutral names of the contract to those of the deployed product.
type terms struct {
	Settings     map[string]string            // by neutral name
	Neutral      map[string]string            // names of settings by those of the product
	Integrations map[string]map[string]string // by kind: "slug" and templated parameters
}

var vocabulary = sync.OnceValue(func() *terms {
	t := &terms{Settings: embedded.SettingWords(), Neutral: map[string]string{}, Integrations: embedded.IntegrationWords()}
	for neutral, word := range t.Settings {
		t.Neutral[word] = neutral
	}
	return t
})

// translate replaces the deployed names of settings by the neutral ones, which the deployed product
// does not know.
func (c *call) translate() *response {
	if c.server.neutral || !strings.HasSuffix(c.route.endpoint.Path, "/application/settings") {
		return nil
	}
	params, object := url.Values{}, map[string]any{}
	for wire, values := range c.params {
		name, _, _ := strings.Cut(wire, "[")
		if neutral, known := neutralSetting(name); known {
			params[neutral+strings.TrimPrefix(wire, name)] = values
		}
	}
	for name, value := range c.object {
		if neutral, known := neutralSetting(name); known {
			object[neutral] = value
		}
	}
	c.params, c.object = params, object
	return nil
}

// deployedName returns the server's name of a setting.
func (c *call) deployedName(name string) string {
	if !c.server.neutral && strings.HasSuffix(c.route.endpoint.Path, "/application/settings") {
		return orElse(vocabulary().Settings[name], name)
	}
	return name
}

// deployedNames replaces the parameter name at the start of each problem by the server's name.
func (c *call) deployedNames(problems []string) []string {
	for i, problem := range problems {
		if name, rest, found := strings.Cut(problem, " "); found {
			problems[i] = c.deployedName(name) + " " + rest
		}
	}
	return problems
}

// neutralSetting returns the contract's name of a deployed setting. known is false for a neutral
// name for which the deployed product has another name.
func neutralSetting(deployed string) (neutral string, known bool) {
	if vocabulary().Settings[deployed] != "" {
		return "", false
	}
	return orElse(vocabulary().Neutral[deployed], deployed), true
}
