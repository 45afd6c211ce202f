// Settings-drift compares the settings of an instance with a file of desired settings, and applies
// the differences. It is for administrators who keep their configuration in a repository: a CI job
// runs it on each change, and every night to find changes made by hand.
//
//	go run ./examples/settings-drift
//	go run ./examples/settings-drift -file settings.json
//	go run ./examples/settings-drift -file settings.json -apply -yes
//
// The file is a JSON object of settings, as the API names them. Settings that it does not name are
// ignored. Differences are printed as a unified diff, lists and objects by their elements, secrets
// without their values. The program exits with 1 if there is drift, or if the server did not apply
// a setting, and with 2 after any other error. A secret that the server does not show does not
// count as drift, because it cannot be compared. -apply sends it each time.
//
// By default it starts the embedded server and compares it with desired.json in this folder. With
// FORGE_URL and FORGE_TOKEN it uses a real server, with an administrator's token.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

//go:embed desired.json
var desired []byte

func main() { demo.Main(run) }

// run is the whole program; a test runs it too.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("settings-drift", flag.ContinueOnError)
	file := flags.String("file", "", "the settings as they should be, a JSON object")
	apply := flags.Bool("apply", false, "change what differs")
	yes := flags.Bool("yes", false, "do not ask")
	wait := flags.Duration("wait", 90*time.Second, "how long to wait for changes to show: servers keep settings for a minute")
	if err := demo.Parse(flags, args, out); err != nil {
		return err
	}
	server, err := demo.Connect(out, "settings-drift")
	if err != nil {
		return err
	}
	defer server.Close()
	wanted, name := desired, "desired.json"
	if *file != "" || server.Embedded == nil {
		name = *file
		if wanted, err = os.ReadFile(name); err != nil {
			return fmt.Errorf("-file, the settings as they should be: %w", err)
		}
	}
	settings, err := server.Client.Settings.Get(ctx)
	if err != nil {
		return err
	}
	if err := settings.Merge(wanted); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	changes := settings.Diff()
	drift, unknown := split(slices.Concat(changes.Changes, changes.NotSent))
	show(out, name, drift, unknown)
	if err := changes.Err(); err != nil {
		return err
	}
	if len(drift) == 0 && (!*apply || len(unknown) == 0) {
		return nil
	}
	found := demo.Finding(demo.Count(len(drift), "setting") + " to change; -apply does it")
	if !*apply {
		return found
	}
	sure, err := demo.Confirm(ctx, in, out, *yes, "Change "+demo.Count(len(drift)+len(unknown), "setting")+"?")
	if err != nil || !sure {
		return cmp.Or(err, error(found))
	}
	return applyAndVerify(ctx, out, server.Client, changes, *wait)
}

// split separates drift from secrets that the server does not show.
func split(differences []forge.SettingDifference) (drift, unknown []forge.SettingDifference) {
	for _, d := range differences {
		if d.Got == nil && d.Secret() {
			unknown = append(unknown, d)
		} else {
			drift = append(drift, d)
		}
	}
	return drift, unknown
}

// applyAndVerify sends the changes, and checks until all of them show or wait has passed.
func applyAndVerify(ctx context.Context, out io.Writer, client *forge.Client, changes *forge.SettingsDiff, wait time.Duration) error {
	report, err := client.Settings.Apply(ctx, changes)
	if err != nil {
		return err
	}
	missing, unknown := split(report.NotApplied)
	if late(missing) {
		fmt.Fprintf(out, "%s not shown yet; waiting up to %s.\n", demo.Count(len(missing), "setting"), wait)
		err = demo.Wait(ctx, wait, func() (bool, error) {
			report, err := client.Settings.Verify(ctx, changes)
			if err != nil {
				return false, err
			}
			missing, unknown = split(report.NotApplied)
			return !late(missing), nil
		})
		if err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		var names []string
		for _, d := range missing {
			names = append(names, fmt.Sprintf("%s (%s)", d.Name, d.Reason))
		}
		return demo.Finding("the server did not apply " + strings.Join(names, ", "))
	}
	fmt.Fprintln(out, "Done: all settings of the file are in force.")
	if len(unknown) > 0 {
		fmt.Fprintf(out, "The server does not show %s.\n", demo.Count(len(unknown), "secret"))
	}
	return nil
}

// late reports whether a later check may find a setting in force.
func late(missing []forge.SettingDifference) bool {
	return slices.ContainsFunc(missing, func(d forge.SettingDifference) bool {
		return d.Reason == forge.SettingNotApplied || d.Reason == forge.SettingNotShown || d.Reason == forge.SettingNotSettable
	})
}
