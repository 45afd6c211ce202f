package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// TestGenerated fails if settings.json or integrations.json was changed without go generate.
func TestGenerated(t *testing.T) {
	want, err := generate(catalogue.SettingGroups())
	require.NoError(t, err)
	require.NoError(t, integrations(catalogue.Integrations(), want))
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join("../..", name))
		require.NoError(t, err)
		assert.Equal(t, string(text), string(got), "%s is not current: run go generate", name)
	}
}

// Each row follows one that is good.
func TestRefused(t *testing.T) {
	for want, row := range map[string]catalogue.SettingRow{
		`two rows have the name "a"`:         {GitLab: "a"},
		"b: it needs go, contract or gitlab": {GitLab: "b"},
		`b: there is no access "write"`:      {GitLab: "b", Go: "B", Type: "bool", Doc: "is b.", Access: "write"},
		"b: one setting replaces an alias":   {GitLab: "b", Go: "B", Type: "bool", Doc: "is b.", Alias: true},
		`b: there is no setting "c"`:         {GitLab: "b", Go: "B", Type: "bool", Doc: "is b.", Needs: []string{"a"}, ReplacedBy: []string{"c"}},
		"expected '}', found 2":              {GitLab: "b", Go: "2", Type: "bool", Doc: "is b."},
	} {
		_, err := generate([]catalogue.SettingGroup{{Settings: []catalogue.SettingRow{{Go: "A", GitLab: "a", Type: "bool", Doc: "is a."}, row}}})
		assert.ErrorContains(t, err, want)
	}
}
