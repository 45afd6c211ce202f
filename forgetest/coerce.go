package forgetest

import (
	"strconv"
	"strings"
)

// deployedBooleans are booleans in the notation of Python: python-gitlab sends them in queries, and
// deployed servers accept them. The documents allow only true and false (Document 1 §2.1 rule 3).
var deployedBooleans = map[string]string{"True": "true", "False": "false"}

// coerce converts booleans to the form of the documents, as deployed servers do. It does not change
// other values; validation rejects them.
func (c *call) coerce(params []parameter) {
	for _, p := range params {
		c.coerce(p.Keys)
		if p.Type != "boolean" {
			continue
		}
		for i, value := range c.params[p.Wire] {
			c.params[p.Wire][i] = orElse(deployedBooleans[value], value)
		}
	}
}

// deployedDecimals are settings that are numbers in the documents but decimals in deployed servers,
// which send them as text. client-go reads only the text.
var deployedDecimals = map[string]bool{"polling_interval_multiplier": true}

// appendDecimal writes a number as deployed servers write a decimal: 1 as "1.0".
func appendDecimal(b []byte, value any) []byte {
	number, ok := value.(float64)
	if !ok {
		return append(b, "null"...)
	}
	text := strconv.FormatFloat(number, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return appendString(b, text)
}
