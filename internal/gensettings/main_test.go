package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// TestGenerated fails if settings.json was changed without go generate.
func TestGenerated(t *testing.T) {
	want, err := generate(catalogue.SettingGroups())
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join("../..", output))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "%s is not current: run go generate", output)
}

func TestRefused(t *testing.T) {
	good := catalogue.SettingRow{Go: "A", Contract: "a", Type: "bool", Doc: "is a setting."}
	for want, change := range map[string]func(r *catalogue.SettingRow){
		`two rows have the name "a"`:           func(*catalogue.SettingRow) {},
		"b: it needs go, contract or gitlab":   func(r *catalogue.SettingRow) { r.Contract, r.Doc = "b", "" },
		`b: there is no access "write"`:        func(r *catalogue.SettingRow) { r.Contract, r.Access = "b", "write" },
		"b: one setting replaces an alias":     func(r *catalogue.SettingRow) { r.Contract, r.Alias = "b", true },
		`b: there is no setting "c"`:           func(r *catalogue.SettingRow) { r.Contract, r.Needs = "b", []string{"a", "c"} },
		`b: there is no setting "replaced_by"`: func(r *catalogue.SettingRow) { r.Contract, r.ReplacedBy = "b", []string{"replaced_by"} },
		"expected '}', found 2":                func(r *catalogue.SettingRow) { r.Contract, r.Go = "b", "2" },
	} {
		bad := good
		change(&bad)
		_, err := generate([]catalogue.SettingGroup{{Settings: []catalogue.SettingRow{good, bad}}})
		assert.ErrorContains(t, err, want)
	}
}
