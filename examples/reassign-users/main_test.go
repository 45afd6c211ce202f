package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

const (
	upload = "POST /groups/:id/placeholder_reassignments"
	table  = `FROM            NAME THERE      ACCOUNT         BECAUSE
maya.lindqvist  Maya Lindqvist  maya.lindqvist  same username
tberg           Tomas Berg      tomas.berg      same name
aisha.khan      Aisha Khan      aisha.khan      same username
dokafor         Daniel Okafor   daniel.okafor   same name
imoreau         Ines Moreau     -               nobody found
buildbot        Build Robot     -               nobody found

6 reassignments pending; the file is `
)

// reassigned lists who has what now: source username = username.
func reassigned(srv *forgetest.Server) (list []string) {
	for _, p := range srv.AddGroup("acme").Placeholders() {
		if p.User != nil {
			list = append(list, p.SourceUser+" = "+p.User.Username)
		}
	}
	return list
}

// The file is sent after a yes.
func TestBothTogether(t *testing.T) {
	t.Chdir(t.TempDir())
	srv := demotest.Server(t)
	out, err := demotest.Run(t, run, "n\n", "-group", "acme", "-file", "people.csv")
	require.NoError(t, err)
	assert.Equal(t, table+"people.csv.\n\nLook at people.csv, edit it if need be. Send it? [y/N] Nothing was changed.\n", out)
	srv.AssertRequestCount(t, upload, 0)

	out, err = demotest.Run(t, run, "y\n", "-group", "acme", "-file", "people.csv")
	require.NoError(t, err)
	assert.Contains(t, out, "The server says: The file is being processed")
	assert.Contains(t, out, "Reassigned 4; 2 still pending.\n")
	assert.Equal(t, []string{"maya.lindqvist = maya.lindqvist", "tberg = tomas.berg", "aisha.khan = aisha.khan", "dokafor = daniel.okafor"}, reassigned(srv))
	srv.AssertAppliedCount(t, upload, 1)
}

// The file is written, edited by hand, and sent by another run. It names people, so it is for its
// owner only, even if it replaces one that everybody could read.
func TestOutEditedIn(t *testing.T) {
	srv := demotest.Server(t)
	path := filepath.Join(t.TempDir(), "people.csv")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Chmod(path, 0o644))
	out, err := demotest.Run(t, run, "", "-group", "acme", "-out", path)
	require.NoError(t, err)
	assert.Equal(t, table+path+".\n", out)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	srv.AssertRequestCount(t, upload, 0)

	edit := func(from, to string) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(text), from)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600))
	}
	edit("imoreau,,", "imoreau,ines.moro,")
	_, err = demotest.Run(t, run, "", "-group", "acme", "-in", path, "-yes")
	require.EqualError(t, err, path+" names accounts that are not there: ines.moro; nothing was sent")
	srv.AssertRequestCount(t, upload, 0)

	edit("imoreau,ines.moro,", "imoreau,priya.raman,")
	edit("dokafor,daniel.okafor,", "dokafor,,")
	out, err = demotest.Run(t, run, "", "-group", "acme", "-in", path, "-yes")
	require.NoError(t, err)
	assert.Contains(t, out, "Reassigned 4; 2 still pending.\n")
	assert.Equal(t, []string{"maya.lindqvist = maya.lindqvist", "tberg = tomas.berg", "aisha.khan = aisha.khan", "imoreau = priya.raman"}, reassigned(srv))

	_, err = demotest.Run(t, run, "", "-group", "acme", "-out", path) // those that are left have no account
	require.NoError(t, err)
	edit("dokafor,daniel.okafor,", "dokafor,,")
	_, err = demotest.Run(t, run, "", "-group", "acme", "-in", path, "-yes")
	assert.Equal(t, demo.Finding(path+" names nobody: fill in the username or the e-mail address of a row; nothing was sent"), err)
}

// Only one active person can be suggested.
func TestSuggestions(t *testing.T) {
	srv := demotest.Server(t)
	srv.AddUser("ines-moreau").Edit(func(u *forgetest.Document) { u.Set("state", "blocked") })
	srv.AddUser("t.berg").Edit(func(u *forgetest.Document) { u.Set("name", "Tomas Berg") })
	srv.AddBot("buildbot", forgetest.ProjectBot)
	out, err := demotest.Run(t, run, "", "-group", "acme", "-out", filepath.Join(t.TempDir(), "people.csv"))
	require.NoError(t, err)
	assert.Regexp(t, `tberg +Tomas Berg +- +several accounts have the name`, out)
	assert.Regexp(t, `imoreau +Ines Moreau +- +nobody found`, out, "a blocked account is not suggested")
	assert.Regexp(t, `buildbot +Build Robot +- +nobody found`, out, "nor is a bot")
}

// What the server has not done in time is a finding.
func TestNotYet(t *testing.T) {
	srv := demotest.Server(t)
	srv.SetClock(forgetest.DemoTime) // the background work never ends
	_, err := demotest.Run(t, run, "", "-group", "acme", "-file", filepath.Join(t.TempDir(), "people.csv"), "-yes", "-wait", "10ms")
	assert.Equal(t, demo.Finding("4 of 4 not reassigned after 10ms: the people may have to accept first"), err)
}

// A run that is interrupted at any request fails, and does not say that it is done.
func TestInterrupted(t *testing.T) {
	demotest.Interrupt(t, run, "Reassigned ", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), []string{"-group", "acme", "-file", filepath.Join(t.TempDir(), "people.csv"), "-yes"}
	}, nil)
}
