package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// diff writes what another document changes for the generated endpoints.
func diff(ctx context.Context, c *config, out io.Writer) error {
	if c.older == (source{}) {
		return errors.New("diff compares with the document of " + configFile + ": set spec or gitlab there, and the new document with -spec or -gitlab")
	}
	if c.newer == (source{}) {
		return errors.New("name the new document with -spec or -gitlab")
	}
	before, err := c.older.load(ctx)
	if err != nil {
		return err
	}
	after, err := c.newer.load(ctx)
	if err != nil {
		return err
	}
	old, err := factsOf(c, before, c.Endpoints)
	if err != nil {
		return err
	}
	remaining := slices.DeleteFunc(slices.Clone(c.Endpoints), func(pattern string) bool {
		_, err := selectEndpoints(after.endpoints(), []string{pattern})
		return err != nil
	})
	current := map[string]string{}
	if len(remaining) > 0 {
		if current, err = factsOf(c.within(after), after, remaining); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%s to %s\n", before.Source, after.Source)
	writeChanges(old, current, out)
	return nil
}

// within returns the settings without the corrections of endpoints that a document does not have.
func (c *config) within(d *document) *config {
	own, all := *c, d.endpoints()
	own.Corrections = maps.Clone(c.Corrections)
	maps.DeleteFunc(own.Corrections, func(pattern string, _ correction) bool {
		_, err := selectEndpoints(all, []string{pattern})
		return err != nil
	})
	return &own
}

// writeChanges writes what differs between two sets of facts.
func writeChanges(old, current map[string]string, out io.Writer) {
	changes := 0
	all := maps.Clone(old)
	maps.Copy(all, current)
	for _, fact := range slices.Sorted(maps.Keys(all)) {
		if owner := ownerOf(fact); owner != "" {
			_, had := old[owner]
			_, has := current[owner]
			if had != has {
				continue // the line of the owner says it
			}
		}
		before, had := old[fact]
		after, has := current[fact]
		switch {
		case !had:
			fmt.Fprintf(out, "+ %s  %s\n", fact, after)
		case !has:
			fmt.Fprintf(out, "- %s  %s\n", fact, before)
		case before != after:
			fmt.Fprintf(out, "~ %s  %s, was %s\n", fact, after, before)
		default:
			continue
		}
		changes++
	}
	if changes == 0 {
		fmt.Fprintln(out, "no change for the generated endpoints")
	}
}

// ownerOf returns the endpoint of a parameter, and the type of a field or value.
func ownerOf(fact string) string {
	for _, part := range []string{" parameter ", " field ", " value "} {
		if owner, _, found := strings.Cut(fact, part); found {
			return owner
		}
	}
	return ""
}

// factsOf returns what a user of the generated package can see.
func factsOf(c *config, d *document, patterns []string) (map[string]string, error) {
	own := *c
	own.Endpoints = patterns
	m, err := modelOf(&own, d)
	if err != nil {
		return nil, err
	}
	facts := map[string]string{}
	fields := func(owner string, s *structType) {
		for _, f := range s.Fields {
			facts[owner+" "+f.Name] = f.Type + " " + f.Tag
		}
	}
	for _, s := range m.Services {
		for _, method := range s.Methods {
			signature := s.Name + "." + method.Name + "(" + method.Parameters() + ") " + method.Returns()
			if method.op.Deprecated {
				signature += ", deprecated"
			}
			facts[method.String()] = strings.ReplaceAll(signature, "forge.", "")
			if method.Options != nil {
				fields(method.String()+" parameter", method.Options)
			}
		}
	}
	for _, s := range m.Structs {
		facts[s.Name] = "struct"
		fields(s.Name+" field", s)
	}
	for _, e := range m.Enums {
		facts[e.Name] = "string"
		for _, v := range e.Values {
			facts[e.Name+" value "+v.Name] = v.Text
		}
	}
	return facts, nil
}
