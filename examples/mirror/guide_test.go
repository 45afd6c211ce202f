package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// The function below is in docs/changes.md word for word.

// syncIssues stores the issues that have changed since the last call.
func syncIssues(ctx context.Context, client *forge.Client, db *database) error {
	mark, err := db.LoadMark() // "" the first time
	if err != nil {
		return err
	}
	var page forge.Response
	all := &forge.ListIssuesOptions{Scope: forge.ScopeAll}
	for issue, err := range client.Issues.List(ctx, all, forge.Since(mark), forge.Into(&page)) {
		if err != nil {
			return err // the next call continues from the mark that was stored last
		}
		if err := db.Store(issue, page.Mark); err != nil { // in one transaction
			return err
		}
	}
	return db.StoreMark(page.Mark)
}

// database is a copy in memory that crashes. A transaction is complete, or has no effect.
type database struct {
	titles map[int64]string
	mark   forge.Mark
	steps  int // before it crashes; negative: never
}

var errCrash = errors.New("crash")

func (d *database) step() error {
	if d.steps--; d.steps == 0 {
		return errCrash
	}
	return nil
}

func (d *database) LoadMark() (forge.Mark, error) { return d.mark, d.step() }

func (d *database) Store(issue *forge.Issue, mark forge.Mark) error {
	if err := d.step(); err != nil { // before the transaction
		return err
	}
	d.titles[issue.ID], d.mark = issue.Title, mark
	return d.step() // after it
}

func (d *database) StoreMark(mark forge.Mark) error {
	if err := d.step(); err != nil {
		return err
	}
	d.mark = mark
	return d.step()
}

// TestGuide keeps a copy of all issues of a changing server for 1,000 rounds, with a crash in each,
// changes that become visible late, another clock, and faults of the server and the connection.
func TestGuide(t *testing.T) {
	srv := forgetest.New(t)
	random, now := rand.New(rand.NewPCG(37, 1)), time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)
	srv.SetClock(func() time.Time { return now })
	srv.SetDateOffset(20 * time.Second)
	srv.SetLateness(func() time.Duration { return time.Duration(random.IntN(4)/3*random.IntN(120)) * time.Second })
	project := srv.AddProject("acme/app")
	client, db, issues := srv.Client(), &database{titles: map[int64]string{}}, project.AddIssues(50, nil)
	want := map[int64]string{}
	for round := range 1000 {
		for range random.IntN(30) {
			now = now.Add(time.Duration(random.IntN(2)) * time.Second)
			if random.IntN(100) == 0 {
				issues = append(issues, project.AddIssue(nil))
			}
			issue, title := issues[random.IntN(len(issues))], "round "+strconv.Itoa(round)
			issue.Edit(func(d *forgetest.Document) { d.Set("title", title) })
			want[issue.ID] = title
		}
		if round%5 == 0 {
			srv.Fail("GET /issues", []forgetest.Fault{forgetest.DropRequest(), forgetest.TruncateBody(100), forgetest.Status(502)}[random.IntN(3)].Times(1+random.IntN(2)))
		}
		db.steps = 1 + random.IntN(40)
		err := syncIssues(t.Context(), client, db)
		if !errors.Is(err, errCrash) { // there was less to store, or a fault
			db.steps = 1
			err = syncIssues(t.Context(), client, db)
		}
		require.ErrorIs(t, err, errCrash)
		now, db.steps = now.Add(6*time.Minute), -1
		require.NoError(t, syncIssues(t.Context(), client, db), "round %d", round)
		require.Len(t, db.titles, len(issues))
		for id, title := range want {
			require.Equal(t, title, db.titles[id], "round %d, issue %d", round, id)
		}
	}
}
