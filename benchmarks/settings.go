package main

import (
	"context"
	_ "embed"
	"errors"
	"net/http"

	"github.com/forge-sdk/forge-go"
)

// settingsDocument is the settings of an instance, 238 of them, in the words of the contract.
//
//go:embed testdata/settings.json
var settingsDocument string

// plainSettings has the fields of forge.ApplicationSettings, and none of its methods, so that
// encoding/json decodes them by reflection.
type plainSettings forge.ApplicationSettings

// applicationSettings measures settings from memory: reading them,
// finding one changed setting, and applying it, which sends it and reads the settings again.
func applicationSettings(ctx context.Context, b *bench) ([]line, error) {
	answer := fromMemory(settingsDocument)
	us := overMemory(answer)
	r := race{rounds: 3 * b.rounds, times: b.scaled(200, 50), sent: documents{"settings", 1, func(int) string { return settingsDocument }}}
	taken, err := r.run(ctx, []contender{
		{forgeName, us.settings}, {handName, newHand(noServer, answer).settings},
	})
	if err != nil {
		return nil, err
	}
	settings, err := us.client.Settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	read, count := lineOf(taken, forgeName, "CPU of reading 238 settings", cpu, inTime), lineOf(taken, forgeName, "allocations of reading them", allocs, inCount)
	read.Limit, count.Exact = 60_000, true
	lines := []line{read, count}
	r.sent = documents{}
	for _, of := range []struct {
		cpu, allocations string
		do               work
		limit            float64
	}{
		{"CPU of Diff, one setting changed", "allocations of Diff", differ(settings), 120_000},
		{"CPU of Diff and Apply, which sends it and reads the settings again", "allocations of Diff and Apply", us.apply(settings), 0},
	} {
		taken, err := r.run(ctx, []contender{{forgeName, of.do}})
		if err != nil {
			return nil, err
		}
		took, count := lineOf(taken, forgeName, of.cpu, cpu, inTime), lineOf(taken, forgeName, of.allocations, allocs, inCount)
		took.Limit, count.Exact = of.limit, true
		lines = append(lines, took, count)
	}
	return lines, nil
}

func (c *byHand) settings(ctx context.Context, d *digest) error {
	return c.one(ctx, d, http.MethodGet, "/api/v4/application/settings", new(plainSettings))
}

func (c *ours) settings(ctx context.Context, d *digest) error {
	s, err := c.client.Settings.Get(ctx)
	if err == nil {
		d.item(s)
	}
	return err
}

// edit changes one of the settings, to another value each time.
func edit(settings *forge.ApplicationSettings) *forge.SettingsDiff {
	settings.SessionExpireDelay = 480 + (settings.SessionExpireDelay+1)%2
	return settings.Diff()
}

func differ(settings *forge.ApplicationSettings) work {
	edited := *settings
	return func(context.Context, *digest) error {
		if changes := edit(&edited); len(changes.Changes) != 1 || changes.Err() != nil {
			return errors.New("not one setting has changed")
		}
		return nil
	}
}

func (c *ours) apply(settings *forge.ApplicationSettings) work {
	edited := *settings
	return func(ctx context.Context, _ *digest) error {
		report, err := c.client.Settings.Apply(ctx, edit(&edited))
		if err == nil && len(report.NotApplied) != 1 { // the document from memory never changes
			return errors.New("the change is not reported")
		}
		return err
	}
}
