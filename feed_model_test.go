package forge

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/forge-sdk/forge-go/internal/racetest"
)

// feedModel is a server that changes while feeds of it are read, and a program that crashes.
type feedModel struct {
	server *feedServer
	draw   func(label string, n int) int // 0 to n-1
	edits  int
	delays int64 // the longest of a change; with the clocks below the overlap
	filter bool
}

// change makes one change of the server.
func (m *feedModel) change() {
	s := m.server
	row := func() *feedRow { return s.rows[m.draw("row", len(s.rows))] }
	ahead := (int64(m.draw("clock", 3)) - 1) * 20 * sec // of two servers, or none
	late := int64(0)
	if m.draw("late", 4) == 0 {
		late = int64(m.draw("delay", int(m.delays/ms))) * ms
	}
	m.edits++
	switch m.draw("change", 12) {
	case 0:
		r := s.add(ahead, late)
		if m.draw("moved", 3) == 0 { // moved here: the time of creation is that of the original
			r.created -= 100 * minute
		}
	case 1:
		s.edit(row(), ahead, late, func(st *feedState) { st.deleted = true })
	case 2:
		s.edit(row(), ahead, late, func(st *feedState) { st.open = !st.open })
	case 3: // many with one time
		first, n := m.draw("first", len(s.rows)), m.draw("many", 150)
		for _, r := range s.rows[first:min(first+n, len(s.rows))] {
			s.edit(r, ahead, late, nil)
			m.edits++
		}
	default:
		if s.edit(row(), ahead, late, nil); m.draw("pause", 3) > 0 {
			s.now += int64(m.draw("time", int(2*sec)))
		}
	}
}

// request is called before each request: the server changes, and another replica may serve it.
func (m *feedModel) request(url.Values) *http.Response {
	for range m.draw("changes", 4) {
		m.change()
	}
	m.server.lag = int64(m.draw("lag", 3)) * 40 * sec
	m.server.dateAhead = (int64(m.draw("date", 3)) - 1) * 20 * sec
	if m.draw("fault", 12) == 0 {
		return faultAt(1)(nil)
	}
	return nil
}

// run makes a program of rounds: changes, a feed that may crash or fail, and the time between. At
// last the copy must be that of the server.
func (m *feedModel) run(t feedT, rounds int) *feedCopy {
	t.Helper()
	client, c, options := m.server.client(t), newFeedCopy(), &ListIssuesOptions{Scope: ScopeAll}
	var filter func(feedState) bool
	if m.filter {
		options.State, filter = IssueStateOpened, func(st feedState) bool { return st.open }
	}
	for range rounds {
		for range m.draw("changes", 40) {
			m.change()
		}
		m.server.before = m.request
		opts := []RequestOption{PerPage([]int{1, 7, 30, 100}[m.draw("size", 4)])}
		_ = c.follow(t, client, options, m.draw("crash", 60), opts...)
		m.server.now += int64(m.draw("between", 10)) * minute
		m.server.before = nil
	}
	m.server.now += 30 * minute
	m.server.lag, m.server.dateAhead = 0, 0
	for range 2 { // the second one has what changed during the first walk of all
		require.NoError(t, c.follow(t, client, options, 0))
	}
	assert.Empty(t, c.missing(m.server, filter), "rows that the feed has lost")
	return c
}

// TestFeedModel compares a copy that a feed keeps with a changing server, after random programs of
// edits, creations, deletions, moves, many changes with one time, late commits, replicas that lag,
// clocks that differ, filters that rows enter and leave, crashes and faults.
func TestFeedModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := &feedModel{server: newFeedServer(rapid.IntRange(0, 300).Draw(r, "rows")), delays: 2 * minute, filter: rapid.Bool().Draw(r, "filter")}
		m.server.add(0, 0)
		if rapid.Bool().Draw(r, "seconds") {
			m.server.shown = sec
		}
		m.draw = func(label string, n int) int { return rapid.IntRange(0, n-1).Draw(r, label) }
		m.run(r, rapid.IntRange(1, 8).Draw(r, "rounds"))
	})
}

// TestFeedAtScale follows a list of 10,000 rows of which 1 % change between two walks, with late
// commits, replicas and clocks: nothing is lost, at most 0.1 % is delivered twice, and the requests
// are at most 5 % of those for the whole list. The long form, FORGE_LONG=1, makes a million edits.
func TestFeedAtScale(t *testing.T) {
	racetest.SkipSequential(t)
	edits := 20_000
	if os.Getenv("FORGE_LONG") != "" {
		edits = 1_000_000
	}
	s := newFeedServer(10_000)
	random := rand.New(rand.NewPCG(37, uint64(edits)))
	client, c := s.client(t), newFeedCopy()
	require.NoError(t, c.follow(t, client, nil, 0))
	s.before = func(url.Values) *http.Response {
		s.lag, s.dateAhead = random.Int64N(80*sec), random.Int64N(40*sec)-20*sec
		return nil
	}
	walks := 0
	for s.requests = 0; edits > 0; walks++ {
		for range 100 {
			s.edit(s.rows[random.IntN(len(s.rows))], random.Int64N(40*sec)-20*sec, random.Int64N(8)/7*random.Int64N(2*minute), nil)
			s.now += random.Int64N(12 * sec)
			edits--
		}
		require.NoError(t, c.follow(t, client, nil, 0))
	}
	assert.LessOrEqual(t, s.requests, walks*100*5/100, "requests; the whole list takes 100")
	s.now += 10 * minute
	s.before, s.lag, s.dateAhead = nil, 0, 0
	require.NoError(t, c.follow(t, client, nil, 0))
	assert.Empty(t, c.missing(s, nil))
	assert.LessOrEqual(t, c.duplicates, c.delivered/1000)
	t.Logf("%d walks, %d requests, %d deliveries, %d of them twice", walks, s.requests, c.delivered, c.duplicates)
}
