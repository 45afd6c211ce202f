package contracttest_test

import (
	"encoding/json"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// NOTICE names each module that go.mod requires, with the licence text of the module, and lists the
// modules that programs link separately.
func TestNotice(t *testing.T) {
	text, err := os.ReadFile("NOTICE")
	require.NoError(t, err)
	linked, _, found := strings.Cut(string(text), "Tests only:")
	require.True(t, found)
	phrases := map[string][]string{
		"BSD-3-Clause": {"Redistribution and use in source and binary forms", "Neither the name of"},
		"MPL-2.0":      {"Mozilla Public License, v. 2.0"},
		"MIT":          {"Permission is hereby granted, free of charge"},
		"MIT and Apache-2.0": {
			"Permission is hereby granted, free of charge", "Apache License, Version 2.0",
		},
	}
	line := regexp.MustCompile(`(?m)^- (\S+): ([^,\n]+)(?:, (Copyright.*))?$`)
	var named []string
	for _, entry := range line.FindAllStringSubmatch(string(text), -1) {
		module, licence, copyright := entry[1], entry[2], entry[3]
		named = append(named, module)
		own, err := os.ReadFile(filepath.Join(moduleFolder(t, module), "LICENSE"))
		require.NoError(t, err, module)
		require.NotEmpty(t, phrases[licence], licence)
		for _, phrase := range append(phrases[licence], copyright) {
			if !strings.Contains(string(own), phrase) {
				t.Errorf("%s: no %q", module, phrase) // the licence itself would be too long to print
			}
		}
	}
	file, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	var required []string
	for _, entry := range regexp.MustCompile(`(?m)^\t(\S+) v`).FindAllStringSubmatch(string(file), -1) {
		required = append(required, entry[1])
	}
	assert.ElementsMatch(t, required, named)

	linking, err := osexec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	require.NoError(t, err)
	for _, module := range required {
		needed := slices.Contains(strings.Fields(string(linking)), module)
		assert.Equal(t, needed, strings.Contains(linked, "- "+module+":"), module)
	}
}

// moduleFolder downloads a module if the module cache does not have it, and returns its folder.
func moduleFolder(t *testing.T, module string) string {
	t.Helper()
	text, err := osexec.CommandContext(t.Context(), "go", "mod", "download", "-json", module).Output()
	require.NoError(t, err, module)
	var downloaded struct{ Dir string }
	require.NoError(t, json.Unmarshal(text, &downloaded))
	require.NotEmpty(t, downloaded.Dir, module)
	return downloaded.Dir
}
