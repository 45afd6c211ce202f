package main

import (
	"context"
	_ "embed"
	"errors"
	"net/http"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

// settingsDocument is the settings of an instance, 238 of them, in the words of the contract. It
// lacks polling_interval_multiplier, which the peer expects as a string.
//
//go:embed testdata/settings.json
var settingsDocument string

// gitlabSettings are 177 settings in the words of GitLab.
//
//go:embed testdata/settings_gitlab.json
var gitlabSettings string

// plainSettings has the fields of forge.ApplicationSettings, and none of its methods, so that
// encoding/json decodes them by reflection.
type plainSettings forge.ApplicationSettings

func addSettings(s *plainSettings, d *digest) {
	d.add("", "", int64(s.DefaultProjectsLimit), int64(s.MaxAttachmentSize+s.SessionExpireDelay))
}

// applicationSettings measures settings from memory: reading them, finding one changed setting, and
// applying it, which sends it and reads the settings again.
func applicationSettings(ctx context.Context, b *bench) ([]line, error) {
	answer := fromMemory(settingsDocument)
	us, hand := newOurs(noServer, forge.WithHTTPClient(&http.Client{Transport: answer})), newHand(noServer, answer)
	read := func(decode decoder) work {
		return handRead(hand, http.MethodGet, "/api/v4/application/settings", decode, addSettings)
	}
	r := race{rounds: 3 * b.rounds, times: b.scaled(200, 50)}
	taken, err := r.run(ctx, withV2([]contender{
		{forgeName, us.settings}, {handName, read(decodeJSON)}, {peerName, newPeer(noServer, withTransport(answer)).settings},
	}, v2Name, read))
	if err != nil {
		return nil, err
	}
	time := lineOf(taken, forgeName, "CPU of reading 238 settings", cpu, showTime)
	time.limit = 60_000
	lines := append([]line{time}, v2Lines(taken, "CPU of reading 238 settings", cpu, showTime)...)
	lines = append(lines, lineOf(taken, forgeName, "allocations", allocs, showCount))

	words := newOurs(noServer, forge.WithHTTPClient(&http.Client{Transport: fromMemory(gitlabSettings)}), forge.WithVocabulary(forge.GitLab))
	const translated, diff, apply = "translated", "diff", "apply"
	settings, err := us.client.Settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	taken, err = r.run(ctx, []contender{
		{translated, counted(words.settings)}, {diff, counted(differ(settings))}, {apply, counted(us.apply(settings))},
	})
	if err != nil {
		return nil, err
	}
	return append(lines,
		line{what: "CPU of reading 177 settings in the words of GitLab", show: showTime, ours: taken[translated].of(cpu), limit: 60_000},
		line{what: "CPU of Diff, one setting changed", show: showTime, ours: taken[diff].of(cpu), limit: 120_000},
		line{what: "allocations of Diff", show: showCount, ours: taken[diff].of(allocs)},
		line{what: "CPU of Diff and Apply, which sends it and reads the settings again", show: showTime, ours: taken[apply].of(cpu)},
		line{what: "allocations of Diff and Apply", show: showCount, ours: taken[apply].of(allocs)}), nil
}

func (c *ours) settings(ctx context.Context, d *digest) error {
	s, err := c.client.Settings.Get(ctx)
	if err == nil {
		addSettings((*plainSettings)(s), d)
	}
	return err
}

func (c *peer) settings(ctx context.Context, d *digest) error {
	s, _, err := c.client.Settings.GetSettings(gitlab.WithContext(ctx))
	if err == nil {
		d.add("", "", s.DefaultProjectsLimit, s.MaxAttachmentSize+s.SessionExpireDelay)
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
