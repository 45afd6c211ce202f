package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

// defaultPool is the contender by hand with the pool of http.DefaultTransport. In these rows "by
// hand" keeps a connection for each goroutine.
const defaultPool = "default pool"

// tuned returns a transport that keeps a connection for each goroutine.
func tuned(goroutines int) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, goroutines
	return t
}

const (
	mixedPage    = 20 // issues on a page
	groupPath    = "/api/v4/projects/group%2Fapp/resource_groups/production"
	spentPath    = "/api/v4/projects/group%2Fapp/issues/318/add_spent_time"
	resourceText = `{"id":3,"key":"production","process_mode":"oldest_first","created_at":"2026-03-01T09:30:00.123Z","updated_at":"2026-03-04T09:30:00.123Z"}`
	statsText    = `{"time_estimate":12600,"total_time_spent":2700,"human_time_estimate":"3h 30m","human_total_time_spent":"45m"}`
)

// shortPage returns a page of 20 issues.
func shortPage() []byte {
	items := make([]string, mixedPage)
	for i := range items {
		items[i] = issue(i)
	}
	return []byte("[" + strings.Join(items, ",") + "]")
}

// mixed are the calls that each goroutine sends in turn: a read, a page of 20 issues, an update
// with a JSON body, and a POST with a JSON body.
type mixed []work

func (c *ours) mixed() mixed {
	project := forge.Path("group/app")
	return mixed{
		c.tag, c.issues(forge.PerPage(mixedPage)),
		func(ctx context.Context, d *digest) error {
			g, err := c.client.ResourceGroups.Update(ctx, project, "production", &forge.UpdateResourceGroupOptions{ProcessMode: forge.ProcessModeOldestFirst})
			if err == nil {
				d.add(g.Key, string(g.ProcessMode), g.ID, g.CreatedAt.Unix())
			}
			return err
		},
		func(ctx context.Context, d *digest) error {
			s, err := c.client.Issues.AddSpentTime(ctx, project, 318, &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)})
			if err == nil {
				d.add(s.HumanTimeEstimate, s.HumanTotalTimeSpent, s.TimeEstimate, s.TotalTimeSpent)
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
				d.issue(i.ID, i.Title, i.Description, i.State, *i.CreatedAt, i.Author.Username, len(i.Labels))
			}
			return err
		},
		func(ctx context.Context, d *digest) error {
			o := &gitlab.EditAnExistingResourceGroupOptions{ProcessMode: new(gitlab.ResourceGroupProcessMode("oldest_first"))}
			g, _, err := c.client.ResourceGroup.EditAnExistingResourceGroup("group/app", "production", o, gitlab.WithContext(ctx))
			if err == nil {
				d.add(g.Key, g.ProcessMode, g.ID, g.CreatedAt.Unix())
			}
			return err
		},
		func(ctx context.Context, d *digest) error {
			s, _, err := c.client.Issues.AddSpentTime("group/app", 318, &gitlab.AddSpentTimeOptions{Duration: new("1h")}, gitlab.WithContext(ctx))
			if err == nil {
				d.add(s.HumanTimeEstimate, s.HumanTotalTimeSpent, s.TimeEstimate, s.TotalTimeSpent)
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
func handWrite[T any](c *byHand, method, path string, body any, decode decoder, add func(*T, *digest)) work {
	return func(ctx context.Context, d *digest) error {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		var out T
		err = c.send(ctx, method, c.base+path, bytes.NewReader(text), "application/json", func(answer *http.Response) error {
			return decode(answer.Body, &out)
		})
		if err == nil {
			add(&out, d)
		}
		return err
	}
}

func (c *byHand) mixed(decode decoder) mixed {
	return mixed{
		handRead(c, http.MethodGet, tagPath, decode, addTag),
		handRead(c, http.MethodGet, fmt.Sprintf("/api/v4/issues?scope=all&per_page=%d", mixedPage), decode, addIssues),
		handWrite(c, http.MethodPut, groupPath, struct {
			ProcessMode string `json:"process_mode"`
		}{"oldest_first"}, decode, func(g *handGroup, d *digest) { d.add(g.Key, g.ProcessMode, g.ID, g.CreatedAt.Unix()) }),
		handWrite(c, http.MethodPost, spentPath, struct {
			Duration string `json:"duration"`
		}{"1h"}, decode, func(s *handStats, d *digest) {
			d.add(s.HumanTimeEstimate, s.HumanTotalTimeSpent, s.TimeEstimate, s.TotalTimeSpent)
		}),
	}
}

// mixedContender is a client with its mixed calls.
type mixedContender struct {
	name  string
	calls mixed
}

func mixedContenders(base string, goroutines int) []mixedContender {
	all := []mixedContender{
		{forgeName, newOurs(base).mixed()}, {handName, newHand(base, tuned(goroutines)).mixed(decodeJSON)},
		{defaultPool, newHand(base, transport()).mixed(decodeJSON)}, {peerName, newPeer(base).mixed()},
	}
	if decodeV2 != nil {
		all = append(all, mixedContender{v2Name, newHand(base, tuned(goroutines)).mixed(decodeV2)})
	}
	return all
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

// mixedAtOnce returns the row of mixed calls from several goroutines. Each contender has a new
// process for each round. The calls of a page take most of the CPU time.
func mixedAtOnce(goroutines int) func(context.Context, *bench) ([]line, error) {
	return func(ctx context.Context, b *bench) ([]line, error) {
		calls, base := b.scaled(20_000, 2000), b.at("n1")
		var who []string
		var alone []contender
		for _, c := range mixedContenders(base, goroutines) {
			who, alone = append(who, c.name), append(alone, contender{c.name, c.calls.once})
		}
		if err := agree(ctx, alone); err != nil {
			return nil, err
		}
		opened := map[string][]float64{}
		if _, err := b.opened(ctx); err != nil {
			return nil, err
		}
		taken, err := runChildren(ctx, fmt.Sprintf("mixed %d %d", goroutines, calls), base, b.scaled(5, 3), who, func(name string, _ usage) error {
			n, err := b.opened(ctx)
			opened[name] = append(opened[name], n-2) // without the first call and this query
			return err
		})
		if err != nil {
			return nil, err
		}
		cpu, wall := func(u usage) float64 { return u.CPU / float64(calls) }, func(u usage) float64 { return u.Wall / float64(calls) }
		lines := []line{childLine(taken, "CPU a call", cpu, showTime), childLine(taken, "wall a call", wall, showTime)}
		lines[0].handTarget = 0.65
		for _, other := range []string{defaultPool, v2Name} {
			lines = append(lines, childAgainst(taken, other, "CPU a call, by hand: "+other, cpu, showTime)...)
			lines = append(lines, childAgainst(taken, other, "wall a call, by hand: "+other, wall, showTime)...)
		}
		connections := func(name string) float64 { return middle(opened[name]) }
		return append(lines,
			line{what: "connections opened", show: showCount, ours: connections(forgeName), hand: connections(handName), peer: connections(peerName)},
			line{what: "connections opened, by hand: " + defaultPool, show: showCount, ours: connections(forgeName), hand: connections(defaultPool)}), nil
	}
}
