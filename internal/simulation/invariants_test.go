package simulation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A list that continues from a cursor may return a row that one write added and a second one
// removed meanwhile, although the server's list is equal before and after (seed 260089403).
func TestUndoneWrites(t *testing.T) {
	empty := truth{asked: true, status: 200}
	step := &observed{
		step: &Step{ID: "g0.s0"}, row: &row{moving: true}, begun: 0, ended: time.Minute, before: empty, after: empty,
		walks: []*walk{{}, {start: "cursor", items: []any{map[string]any{"id": 2}}}},
	}
	o := &Outcome{plan: &Plan{}, seen: []*observed{step}}
	violations := func() (n int) {
		cursorResumes(o, func(*observed, string, ...any) { n++ })
		return n
	}
	assert.Equal(t, 1, violations(), "no write explains the row")

	o.wire = []Exchange{
		{Call: "g1.s0", Effect: true, Began: time.Second, Ended: 2 * time.Second},
		{Call: "g2.s0", Effect: true, Began: 3 * time.Second, Ended: 4 * time.Second},
	}
	assert.Zero(t, violations())
}
