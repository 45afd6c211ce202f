package forge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

// The feed of audit events is complete and in order, on servers with each limit of a query: also
// with several events in a second, and with more events than a window may buffer.
func TestFeedOfAuditEvents(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]forgetest.Option{
		"no limit": nil,
		"refuses":  {forgetest.WithAuditEventLimit(forgetest.RefuseLongQueries)},
		"cuts":     {forgetest.WithAuditEventLimit(forgetest.CutLongQueries)},
	} {
		if racetest.Enabled && name != "cuts" {
			continue // the goroutines are the same
		}
		t.Run(name, func(t *testing.T) {
			srv := forgetest.New(t, opts...)
			now := time.Date(2020, time.March, 1, 12, 0, 0, 0, time.UTC)
			srv.SetClock(func() time.Time { return now })
			srv.AddGeneratedAuditEvents(7_000) // a minute apart, since January
			for i := range 300 {               // three in a second
				srv.AddAuditEvent(func(event *forgetest.Document) { event.Set("created_at", now.Add(time.Duration(i-400)*time.Second/3)) })
			}
			client := srv.Client()
			var page forge.Response
			mark, last, seen := forge.Mark(""), time.Time{}, map[int64]bool{}
			follow := func(stop int) {
				for event, err := range client.AuditEvents.List(t.Context(), nil, forge.Since(mark), forge.Into(&page)) {
					require.NoError(t, err)
					if stop--; stop == 0 {
						break
					}
					require.False(t, seen[event.ID], "event %d again", event.ID)
					require.False(t, event.CreatedAt.Before(last), "event %d is older than the one before", event.ID)
					seen[event.ID], last = true, event.CreatedAt
				}
				mark = page.Mark
			}
			for range 4 { // three crashes
				follow(2500)
			}
			follow(0)
			assert.Len(t, seen, 7_300)
			requests := len(srv.Requests())
			now = now.Add(10 * time.Second)
			srv.AddAuditEvent(nil)
			follow(0)
			assert.Len(t, seen, 7_301)
			assert.LessOrEqual(t, len(srv.Requests())-requests, 4, "the overlap has 300 events")
		})
	}
}

// A window of a group's events has no documented limit: it is shortened where it has too many
// rows, and grows again.
func TestFeedShortensWindows(t *testing.T) {
	racetest.SkipSequential(t)
	srv := forgetest.New(t)
	now := time.Date(2020, time.March, 1, 12, 0, 0, 0, time.UTC)
	srv.SetClock(func() time.Time { return now })
	group := srv.AddGroup("acme")
	group.AddGeneratedAuditEvents(7_000)
	now = now.AddDate(6, 0, 0)
	events, err := forge.Collect(srv.Client().AuditEvents.ListForGroup(t.Context(), forge.Path("acme"), nil, forge.Since(""), forge.Ahead(2)))
	require.NoError(t, err)
	require.Len(t, events, 7_000)
	for i, event := range events {
		require.Equal(t, int64(i+1), event.ID)
	}
	assert.Less(t, len(srv.Requests()), 600)
}
