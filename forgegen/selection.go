package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// selectEndpoints returns those that the patterns name, in the order of the document. A pattern is
// "POST /projects/:id/issues", "tag:issues" or, for all below a prefix, "/projects/:id/issues".
func selectEndpoints(all []*endpoint, patterns []string) ([]*endpoint, error) {
	if len(patterns) == 0 {
		return nil, fmt.Errorf(`no endpoints: name them as 'POST /projects/:id/issues', tag:issues or /projects/:id/issues (a prefix), here or in forgegen.yaml; "forgegen list" shows all`)
	}
	chosen := map[*endpoint]bool{}
	for _, pattern := range patterns {
		match, err := matcher(pattern)
		if err != nil {
			return nil, err
		}
		found := false
		for _, e := range all {
			if match(e) {
				found, chosen[e] = true, true
			}
		}
		if !found {
			return nil, notFound(all, pattern)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(e *endpoint) bool { return !chosen[e] }), nil
}

func notFound(all []*endpoint, pattern string) error {
	return fmt.Errorf("the document has no %s; the nearest are:\n\t%s", pattern, strings.Join(nearest(all, pattern), "\n\t"))
}

func matcher(pattern string) (func(*endpoint) bool, error) {
	if tag, isTag := strings.CutPrefix(pattern, "tag:"); isTag {
		return func(e *endpoint) bool { return camel(e.Tag) == camel(tag) }, nil
	}
	if strings.HasPrefix(pattern, "/") {
		prefix := strings.TrimRight(shapeOf(splitPath(trimAPI(pattern))), "/")
		return func(e *endpoint) bool { return strings.HasPrefix(shapeOf(e.parts)+"/", prefix+"/") }, nil
	}
	key, err := keyOf(pattern)
	return func(e *endpoint) bool { return e.key() == key }, err
}

// keyOf returns the key of an endpoint that a user wrote.
func keyOf(pattern string) (string, error) {
	method, path, _ := strings.Cut(strings.TrimSpace(pattern), " ")
	if path = strings.TrimSpace(path); !slices.Contains(methods, method) || !strings.HasPrefix(path, "/") {
		return "", fmt.Errorf("%q is not an endpoint: write 'POST /projects/:id/issues', tag:issues or /projects/:id/issues", pattern)
	}
	return method + " " + shapeOf(splitPath(trimAPI(path))), nil
}

func trimAPI(path string) string { return strings.TrimPrefix(path, "/api/v4") }

// nearest returns the three endpoints, or tags, that differ least from a pattern.
func nearest(all []*endpoint, pattern string) []string {
	var texts []string
	distances := map[string]int{}
	for _, e := range all {
		text := e.String()
		switch {
		case strings.HasPrefix(pattern, "tag:"):
			text = "tag:" + e.Tag
		case strings.HasPrefix(pattern, "/"):
			text = e.Route()
		}
		if _, known := distances[text]; !known {
			texts, distances[text] = append(texts, text), editDistance([]rune(pattern), []rune(text))
		}
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(distances[a]-distances[b], strings.Compare(a, b)) })
	return texts[:min(3, len(texts))]
}

// nearestSchemas returns the three names that differ least from one. A short name, such as Job for
// APIEntitiesCiJob, is near to the names that end with it.
func nearestSchemas(all []string, name string) []string {
	distance := func(text string) int {
		if strings.HasSuffix(text, name) {
			return 0
		}
		return editDistance([]rune(name), []rune(text))
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(distance(a)-distance(b), strings.Compare(a, b)) })
	return all[:min(3, len(all))]
}

// editDistance is the Levenshtein distance.
func editDistance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			change := before
			if a[i] != b[j] {
				change++
			}
			before, row[j+1] = row[j+1], min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
