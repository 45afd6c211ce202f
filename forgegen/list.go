package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// list writes the endpoints that have all words in their route, tag or summary.
func list(d *document, words []string, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	found := 0
	for _, e := range d.endpoints() {
		if text := strings.ToLower(e.String() + " " + e.Tag + " " + e.op.Summary); containsAll(text, words) {
			found++
			fmt.Fprintf(w, "%s\t%s\ttag:%s\t%s\n", e.Method, e.Route(), e.Tag, e.op.Summary)
		}
	}
	if found == 0 {
		return fmt.Errorf("no endpoint of %s has %q: try another word, or none for all", d.Source, strings.Join(words, " "))
	}
	return w.Flush()
}

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, strings.ToLower(word)) {
			return false
		}
	}
	return true
}

// listRules writes the table of rules.
func listRules(out io.Writer) error {
	for _, r := range rules {
		fmt.Fprintf(out, "%s: %s; %s; forgegen.yaml: %s\n", r.Name, r.Fault, r.Remedy, r.Correct)
	}
	return nil
}
