package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

const (
	mixedPage     = 20 // issues on a page
	groupPath     = "/api/v4/projects/group%2Fapp/resource_groups/production"
	spentPath     = "/api/v4/projects/group%2Fapp/issues/318/add_spent_time"
	groupDocument = `{"id":3,"key":"production","process_mode":"oldest_first","created_at":"2026-03-01T09:30:00.123Z","updated_at":"2026-03-04T09:30:00.123Z"}`
	statsDocument = `{"time_estimate":12600,"total_time_spent":2700,"human_time_estimate":"3h 30m","human_total_time_spent":"45m"}`
)

// mixed are the calls that each goroutine sends in turn: a read, a page of 20 issues, an update
// with a JSON body, and a POST with a JSON body.
type mixed []work

// mixedDocuments are what the calls receive.
func mixedDocuments() documents {
	return documents{"mixed", 1 + mixedPage + 2, func(i int) string {
		switch i {
		case 0:
			return tagDocument
		case mixedPage + 1:
			return groupDocument
		case mixedPage + 2:
			return statsDocument
		}
		return issue(i - 1)
	}}
}

func (c *ours) mixed() mixed {
	project := forge.Path("group/app")
	return mixed{
		c.tag, c.issues(forge.PerPage(mixedPage)),
		func(ctx context.Context, d *digest) error {
			g, err := c.client.ResourceGroups.Update(ctx, project, "production", &forge.UpdateResourceGroupOptions{ProcessMode: forge.ProcessModeOldestFirst})
			if err == nil {
				d.item(g)
			}
			return err
		},
		func(ctx context.Context, d *digest) error {
			s, err := c.client.Issues.AddSpentTime(ctx, project, 318, &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)})
			if err == nil {
				d.item(s)
			}
			return err
		},
	}
}

func (c *peer) mixed() mixed {
	return mixed{
		c.tag,
		func(ctx context.Context, d *digest) error {
			page, _, err := c.client.Issues.ListIssues(&gitlab.ListIssuesOptions{Scope: new("all"), ListOptions: gitlab.ListOptions{PerPage: mixedPage}}, gitlab.WithContext(ctx))
			for _, i := range page {
				d.item(i)
			}
			return err
		},
		func(ctx context.Context, d *digest) error {
			o := &gitlab.EditAnExistingResourceGroupOptions{ProcessMode: new(gitlab.ResourceGroupProcessMode("oldest_first"))}
			g, _, err := c.client.ResourceGroup.EditAnExistingResourceGroup("group/app", "production", o, gitlab.WithContext(ctx))
			if err == nil {
				d.item(g)
			}
			return err
		},
		func(ctx context.Context, d *digest) error {
			s, _, err := c.client.Issues.AddSpentTime("group/app", 318, &gitlab.AddSpentTimeOptions{Duration: new("1h")}, gitlab.WithContext(ctx))
			if err == nil {
				d.item(s)
			}
			return err
		},
	}
}

type handGroup struct {
	ID          int64     `json:"id"`
	Key         string    `json:"key"`
	ProcessMode string    `json:"process_mode"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

type handStats struct {
	TimeEstimate        int64  `json:"time_estimate"`
	TotalTimeSpent      int64  `json:"total_time_spent"`
	HumanTimeEstimate   string `json:"human_time_estimate"`
	HumanTotalTimeSpent string `json:"human_total_time_spent"`
}

// handWrite returns a work by hand that sends the JSON of body, and decodes the response.
func handWrite[T any](c *byHand, method, path string, body any) work {
	return func(ctx context.Context, d *digest) error {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		out := new(T)
		err = c.decode(ctx, method, c.base+path, bytes.NewReader(text), "application/json", out)
		if err == nil {
			d.item(out)
		}
		return err
	}
}

func (c *byHand) mixed() mixed {
	return mixed{
		c.tag, c.issuesBy(mixedPage),
		handWrite[handGroup](c, http.MethodPut, groupPath, struct {
			ProcessMode string `json:"process_mode"`
		}{"oldest_first"}),
		handWrite[handStats](c, http.MethodPost, spentPath, struct {
			Duration string `json:"duration"`
		}{"1h"}),
	}
}

// once sends each of the calls once.
func (m mixed) once(ctx context.Context, d *digest) error {
	for _, do := range m {
		if err := do(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// concurrently sends calls from several goroutines, each of which takes the calls in turn.
func (m mixed) concurrently(ctx context.Context, goroutines, calls int) error {
	var running sync.WaitGroup
	var left atomic.Int64
	var failed atomic.Pointer[error]
	left.Store(int64(calls))
	for g := range goroutines {
		running.Go(func() {
			for i := g; left.Add(-1) >= 0; i++ {
				if err := m[i%len(m)](ctx, &digest{}); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	running.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// mixedAtOnce is a row of mixed calls from 64 goroutines. The code by hand keeps a connection for
// each goroutine. The calls of a page take most of the CPU time.
func mixedAtOnce(ctx context.Context, b *bench) ([]line, error) {
	const goroutines = 64
	calls, base := b.scaled(10_000, 2000), b.at("n1")
	var contenders []contender
	for _, c := range []struct {
		name  string
		calls mixed
	}{
		{forgeName, newOurs(base).mixed()}, {handName, newHand(base, pooled(goroutines)).mixed()}, {peerName, newPeer(base).mixed()},
	} {
		if err := (race{sent: mixedDocuments()}).agree(ctx, contender{c.name, c.calls.once}); err != nil {
			return nil, err
		}
		contenders = append(contenders, contender{c.name, func(ctx context.Context, d *digest) error {
			d.item(nil)
			return c.calls.concurrently(ctx, goroutines, calls)
		}})
	}
	taken, err := race{rounds: 3, times: 1}.run(ctx, contenders)
	lines := []line{lineOf(taken, forgeName, "CPU a call", cpu, inTime), lineOf(taken, forgeName, "wall a call", wall, inTime)}
	for i := range lines {
		for _, figure := range []*float64{&lines[i].Forge, &lines[i].Hand, &lines[i].Peer} {
			*figure /= float64(calls)
		}
	}
	lines[0].HandTarget = 0.65
	return lines, err
}
