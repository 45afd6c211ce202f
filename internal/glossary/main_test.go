package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The repository has no finding.
func TestRepository(t *testing.T) {
	findings, err := check("../..")
	require.NoError(t, err)
	assert.Empty(t, findings)
}

// The sample has a finding of each kind, and none in names, code, tests and addresses.
func TestSample(t *testing.T) {
	findings, err := check("testdata")
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{
		`sample.go:4: "gives": write returns; sets; reports`,
		`sample.go:6: "member": write field, key`,
		`sample.go:12: there is no file missing.go`,
		`sample.go:12: docs/guide.md has no heading "No such heading"`,
		`sample.go:15: a comment of 105 columns`,
		`sample.go:16: "Design 3.2" is not in the repository: state the rule`,
		`sample.go:16: "at once": write immediately; concurrently`,
		`sample_test.go:3: there is no file missing_test.go`,
		`docs/guide.md:3: "tells": write reports, says; receives, sends`,
		`docs/guide.md:6: "answer": write response; returns, responds with`,
		`docs/guide.md:6: "cuts": write truncated, truncates`,
		`NOTES.md:5: there is no docs/missing.json`,
		`NOTES.md:6: "catalogue's README" is not in the repository: state the rule`,
	}, findings)
}

// A glossary that cannot be read is an error.
func TestEntries(t *testing.T) {
	for _, text := range []string{"no second column", "better\t(", "better\tword\t("} {
		_, err := entries(text)
		assert.Error(t, err, text)
	}
	list, err := entries("# a comment\n\nresponse\tanswers?\n")
	require.NoError(t, err)
	assert.Len(t, list, 1)
}
