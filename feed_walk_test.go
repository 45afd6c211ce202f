package forge

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page for a row begins with a row before it, and has others behind it.
func TestWalkRead(t *testing.T) {
	for _, perPage := range []int{1, 20, 33, 100} {
		w := newWalk(0, perPage)
		for n := 3000; n >= 0; n-- {
			w.read(n)
			begin, end := (w.number-1)*w.size, w.number*w.size
			require.Less(t, n, end, "%d per page", perPage)
			require.True(t, begin < n || begin == 0, "row %d of pages of %d: from %d", n, perPage, begin)
			require.LessOrEqual(t, w.size, max(perPage, minTied))
		}
		assert.Equal(t, step{0, 1, max(perPage, minTied)}, w.step, "the first page")
	}
}

// Rows must have ids and times, not before the second of the bound, the oldest first.
func TestWalkOrder(t *testing.T) {
	at := func(times ...int64) (rows []row) {
		for i, at := range times {
			rows = append(rows, row{id: int64(i + 1), at: at})
		}
		return rows
	}
	for _, test := range []struct {
		after int64
		rows  []row
		want  string
	}{
		{1500, at(1000, 1000, 1001), ""}, {1500, nil, ""}, {0, at(5, 0, 0), ""}, {-1, at(-1000), ""},
		{1500, at(999), "only later ones"}, {1500, at(2000, 1999), "comes after"}, {1500, at(2000, 0), "no time"}, {2, at(0), "no time"},
		{0, []row{{at: 1}}, "no id"},
	} {
		got := newWalk(test.after, 20).order(test.rows)
		assert.Contains(t, got, test.want, "%v", test)
		assert.Equal(t, test.want == "", got == "", "%v", test)
	}
}

// An empty page is a gap only at the end: rows have left the pages before it.
func TestWalkEmptyPage(t *testing.T) {
	for _, more := range []bool{true, false} {
		w, rows := newWalk(1000, 20), make([]row, 20)
		for i := range rows {
			rows[i] = row{id: int64(i + 1), at: 1000}
		}
		_, end, err := w.next(rows, true)
		require.True(t, err == nil && !end && w.number > 1)
		before := w.number * w.size
		gap, end, err := w.next(nil, more)
		require.NoError(t, err)
		assert.False(t, end)
		assert.Equal(t, !more, gap)
		assert.Equal(t, more, w.number*w.size > before)
	}
}

// Without a row that was read, no row can be missing. The first page of a bound cannot have moved.
func TestWalkWithoutGap(t *testing.T) {
	w, rows := newWalk(1000, 20), []row{{id: 1, at: 1000}}
	for _, page := range [][]row{nil, rows} { // the second one is requested by number
		gap, end, err := w.next(page, true)
		assert.True(t, err == nil && !gap && !end, page)
	}
	w.number = 1
	_, end, err := w.next([]row{{id: 2, at: 1000}}, true)
	assert.True(t, err == nil && !end)
	assert.Zero(t, w.retreats)
}

// What lies before the time of a mark is forgotten: neither it nor the mark grows.
func TestProgressForgets(t *testing.T) {
	p := progress{limit: 10_000}
	for at := range int64(10) {
		p.read.put(version{at: at * 1000, id: at})
	}
	p.advance(4_500)
	assert.Len(t, p.read.sorted, 6)
	assert.Len(t, p.read.byID, 6)
	p.advance(20_000)
	assert.EqualValues(t, 10_000, p.at, "no further than the walk sees")
	assert.Empty(t, p.read.sorted)
}
