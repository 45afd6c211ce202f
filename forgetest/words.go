package forgetest

import (
	"net/url"
	"strings"
	"sync"
)

// vocabulary holds the deployed product's words for the neutral ones of the contract.
type vocabulary struct {
	Settings     map[string]string            `json:"settings"`     // by neutral name
	Integrations map[string]map[string]string `json:"integrations"` // by kind: "slug" and templated parameters
}

var words = sync.OnceValue(func() *vocabulary {
	v := new(vocabulary)
	parse("catalogue/words.json", v)
	return v
})

// translate turns the deployed names of settings into the neutral ones, which the deployed product does not know.
func (c *call) translate() *answer {
	if !c.gitlab || !strings.HasSuffix(c.route.endpoint.Path, "/application/settings") {
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

// deployedName is what the server calls a setting.
func (c *call) deployedName(name string) string {
	if c.gitlab && strings.HasSuffix(c.route.endpoint.Path, "/application/settings") {
		return orElse(words().Settings[name], name)
	}
	return name
}

// deployedNames gives problems, which start with the name of a parameter, in the server's words.
func (c *call) deployedNames(problems []string) []string {
	for i, problem := range problems {
		if name, rest, found := strings.Cut(problem, " "); found {
			problems[i] = c.deployedName(name) + " " + rest
		}
	}
	return problems
}

// neutralSetting is the contract's name of a deployed setting; a neutral stand-in is unknown to the deployed product.
func neutralSetting(deployed string) (neutral string, known bool) {
	if words().Settings[deployed] != "" {
		return "", false
	}
	for neutral, word := range words().Settings {
		if word == deployed {
			return neutral, true
		}
	}
	return deployed, true
}
