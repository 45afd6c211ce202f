// Settings-drift compares the settings of an instance with a file that says how they should be, and applies what differs. It is for
// administrators who keep their configuration in a repository: a CI job runs it on each change, and once a night to find what somebody
// has changed by hand.
//
//	go run ./examples/settings-drift
//	go run ./examples/settings-drift -file settings.json
//	go run ./examples/settings-drift -file settings.json -apply -yes
//
// The file is a JSON object of settings, as the API names them; settings that it does not name are left alone. The program exits with 1
// when there is drift, or when the server did not take a setting; with 2 when something else went wrong.
//
// Without anything it starts the embedded server and compares it with the desired.json beside this file. With FORGE_URL and FORGE_TOKEN
// it talks to a real one, with an administrator's token; a GitLab server needs FORGE_VOCABULARY=gitlab, too.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
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
	text := desired
	switch {
	case *file != "":
		if text, err = os.ReadFile(*file); err != nil {
			return err
		}
	case !server.Embedded:
		return errors.New("-file is missing: how should the settings be?")
	}
	update, err := compare(ctx, server.Client, text, cmp.Or(*file, "desired.json"))
	if err != nil {
		return err
	}
	drift, err := show(ctx, out, server.Client, update)
	if err != nil || drift == 0 {
		return err
	}
	found := demo.Finding(demo.Count(drift, "setting") + " to change; -apply does it")
	if !*apply {
		return found
	}
	if !*yes {
		sure, err := demo.Confirm(ctx, in, out, "Change "+demo.Count(drift, "setting")+"?")
		if err != nil {
			return err
		}
		if !sure {
			return found
		}
	}
	return applyAndVerify(ctx, out, server.Client, update, *wait)
}

// compare gives the smallest update that makes the settings those of the file. What is no documented parameter of an update is in its
// Extra: most servers take it all the same, and Apply tells whether this one does.
func compare(ctx context.Context, client *forge.Client, text []byte, name string) (*forge.UpdateSettingsOptions, error) {
	before, err := client.Settings.Get(ctx)
	switch {
	case errors.Is(err, forge.ErrAnswer):
		return nil, fmt.Errorf("%w\nIs it a GitLab server? Then set FORGE_VOCABULARY=gitlab", err)
	case err != nil:
		return nil, err
	}
	after, err := overlay(before, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	diff, err := forge.DiffSettings(before, after)
	if err != nil {
		return nil, err
	}
	for _, d := range diff.Unsettable {
		if diff.Update.Extra == nil {
			diff.Update.Extra = map[string]any{}
		}
		diff.Update.Extra[d.Name] = d.Want
	}
	return diff.Update, nil
}

// overlay gives the settings as they should be: those that are there, with the file's on top. A name that neither this package nor
// the server knows is most likely misspelled, and a server would ignore it.
func overlay(before *forge.ApplicationSettings, text []byte) (*forge.ApplicationSettings, error) {
	var wanted map[string]json.RawMessage
	if err := json.Unmarshal(text, &wanted); err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	after := &forge.ApplicationSettings{Extra: maps.Clone(before.Extra)}
	data, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		_, known := members[name]
		_, there := before.Extra[name]
		fits := fit(name, wanted[name])
		switch {
		case known && fits == nil:
			members[name] = wanted[name]
			delete(after.Extra, name) // a value of another type, which the server shows
		case there:
			after.Extra[name] = wanted[name]
		case known:
			return nil, fits
		default:
			return nil, fmt.Errorf("the server shows no setting %q: is it misspelled?", name)
		}
	}
	if data, err = json.Marshal(members); err != nil {
		return nil, err
	}
	return after, json.Unmarshal(data, after)
}

// fit says why a setting cannot have a value.
func fit(name string, value json.RawMessage) error {
	member, err := json.Marshal(map[string]json.RawMessage{name: value})
	if err == nil {
		err = json.Unmarshal(member, new(forge.ApplicationSettings))
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		kind, _, _ := strings.Cut(wrong.Value, " ") // Go releases differ in whether the value itself follows
		return fmt.Errorf("%s cannot be a %s", name, kind)
	}
	return err
}

// show prints what an update would change and returns how many settings that are. Verify tells what each is and what it should be.
func show(ctx context.Context, out io.Writer, client *forge.Client, update *forge.UpdateSettingsOptions) (int, error) {
	report, err := client.Settings.Verify(ctx, update)
	if err != nil {
		return 0, err
	}
	if len(report.NotTaken) == 0 {
		fmt.Fprintln(out, "No drift: all settings of the file are in force.")
		return 0, nil
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SETTING\tIS\tSHOULD BE")
	for _, d := range report.NotTaken {
		fmt.Fprintf(table, "%s\t%s\t%s\n", d.Name, value(d.Name, d.Have), value(d.Name, d.Want))
	}
	_ = table.Flush()
	return len(report.NotTaken), nil
}

// applyAndVerify sends the update, and looks until all of it shows.
func applyAndVerify(ctx context.Context, out io.Writer, client *forge.Client, update *forge.UpdateSettingsOptions, wait time.Duration) error {
	report, err := client.Settings.Apply(ctx, update)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(wait)
	for pause := time.Second; len(report.NotTaken) > 0 && time.Now().Before(deadline); pause = min(2*pause, 15*time.Second) {
		fmt.Fprintf(out, "%s not shown yet; looking again in %s.\n", demo.Count(len(report.NotTaken), "setting"), pause)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(pause, time.Until(deadline))):
		}
		if report, err = client.Settings.Verify(ctx, update); err != nil {
			return err
		}
	}
	if len(report.NotTaken) > 0 {
		var names []string
		for _, d := range report.NotTaken {
			names = append(names, d.Name)
		}
		return demo.Finding("the server did not take " + strings.Join(names, ", ") + " (an older release, or another tier?)")
	}
	fmt.Fprintln(out, "Done: all settings of the file are in force.")
	return nil
}

// value is a setting's value for a log that many people read: keys and tokens are settings, too.
func value(name string, raw json.RawMessage) string {
	secret := slices.ContainsFunc([]string{"_key", "_token", "_secret", "_password"}, func(end string) bool { return strings.HasSuffix(name, end) })
	switch {
	case raw == nil:
		return "(not shown)"
	case secret:
		return "(secret)"
	case len(raw) > 60:
		return string(raw[:57]) + "..."
	}
	return string(raw)
}
