package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

// days are more than two windows; each has four events, the first at its first moment.
const days = 70

// Neither the program nor a feed loses an event of a server that refuses a query
// for more than 30 days, or cuts it. One query for all days does.
func TestLongTimes(t *testing.T) {
	for limit, one := range map[forgetest.AuditEventLimit]int{0: 4 * days, forgetest.RefuseLongQueries: 0, forgetest.CutLongQueries: 4 * 30} {
		var options []forgetest.Option
		if limit != 0 {
			options = append(options, forgetest.WithAuditEventLimit(limit))
		}
		srv := demotest.Empty(t, options...)
		for i := range 4 * days {
			srv.AddAuditEvent(func(event *forgetest.Document) { event.Set("created_at", firstDay.Add(time.Duration(i)*6*time.Hour)) })
		}
		end := firstDay.AddDate(0, 0, days)
		srv.SetClock(nightAfter(end.AddDate(0, 0, -1)))

		feed, err := forge.Collect(srv.Client().AuditEvents.List(t.Context(), nil, forge.Since(forge.MarkAt(firstDay))))
		require.NoError(t, err)
		assert.Len(t, feed, 4*days)
		whole := &forge.ListAuditEventsOptions{CreatedAfter: firstDay, CreatedBefore: end}
		events, _ := forge.Collect(srv.Client().AuditEvents.List(t.Context(), whole))
		assert.Len(t, events, one)

		dir := filepath.Join(t.TempDir(), "audit")
		_, err = exportTo(t, dir, "-since", date(firstDay))
		require.NoError(t, err)
		for day := range days {
			assert.Equal(t, 4, strings.Count(read(t, dir, date(firstDay.AddDate(0, 0, day))+".ndjson"), "\n"), "day %d", day)
		}
	}
}
