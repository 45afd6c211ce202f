package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

const tagPath = "/api/v4/projects/group%2Fapp/registry/repositories/7/tags/release%2F1.0"

// reply is a response from memory, or the error of a lost connection.
type reply struct {
	status int
	text   string
	header http.Header
	err    error
}

// inTurn is a transport that returns its replies in turn, for one goroutine.
type inTurn struct {
	replies []reply
	next    int
}

func newInTurn(replies ...reply) *inTurn {
	for i := range replies {
		replies[i].header = fromMemory("").header.Clone()
		if replies[i].status == http.StatusTooManyRequests {
			replies[i].header.Set("Retry-After", "0") // another value would delay the next call
		}
	}
	return &inTurn{replies: replies}
}

// RoundTrip returns the next reply.
func (t *inTurn) RoundTrip(req *http.Request) (*http.Response, error) {
	now := &t.replies[t.next]
	t.next = (t.next + 1) % len(t.replies)
	if now.err != nil {
		return nil, now.err
	}
	response, err := (&memory{now.text, now.header}).RoundTrip(req)
	response.StatusCode, response.Status = now.status, http.StatusText(now.status)
	return response, err
}

var (
	tagReply         = reply{status: http.StatusOK, text: tagDocument}
	unavailableReply = reply{status: http.StatusServiceUnavailable, text: `{"message":"503 Service Unavailable"}`}
	lostReply        = reply{err: &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}}
)

func addTag(t *handTag, d *digest) { d.add(t.Name, t.Digest, t.TotalSize, t.CreatedAt.Unix()) }

// retriedTag sends the request up to twice.
func (c *byHand) retriedTag(ctx context.Context, d *digest) error {
	read := handRead(c, http.MethodGet, tagPath, decodeJSON, addTag)
	if read(ctx, d) == nil {
		return nil
	}
	return read(ctx, d)
}

// firstRetry measures a call whose first attempt fails, above the same call without a failure. No
// contender waits. The peer does not retry after a lost connection.
func firstRetry(ctx context.Context, b *bench) (lines []line, err error) {
	policy := forge.WithRetry(forge.RetryPolicy{MinWait: 1, MaxWait: 1})
	ours := func(replies ...reply) work {
		return newOurs(noServer, policy, forge.WithHTTPClient(&http.Client{Transport: newInTurn(replies...)})).tag
	}
	hand := func(replies ...reply) work { return newHand(noServer, newInTurn(replies...)).retriedTag }
	peer := func(replies ...reply) work {
		now := gitlab.WithCustomBackoff(func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 })
		return newPeer(noServer, now, withTransport(newInTurn(replies...))).tag
	}
	for _, failure := range []struct {
		name  string
		reply reply
	}{{"after a 503", unavailableReply}, {"after a lost connection", lostReply}} {
		contenders := []contender{
			{forgeName, ours(failure.reply, tagReply)}, {forgeName + bare, ours(tagReply)},
			{handName, hand(failure.reply, tagReply)}, {handName + bare, hand(tagReply)},
		}
		if failure.reply.err == nil {
			contenders = append(contenders, contender{peerName, peer(failure.reply, tagReply)}, contender{peerName + bare, peer(tagReply)})
		}
		taken, err := race{rounds: 5 * b.rounds, times: b.scaled(1000, 300)}.run(ctx, contenders)
		if err != nil {
			return nil, err
		}
		count, time := addedLine(taken, "allocations added, "+failure.name, allocs, showCount), addedLine(taken, "CPU added, "+failure.name, cpu, showTime)
		count.limit = 30
		lines = append(lines, count, time)
	}
	return lines, nil
}

// statusError is an error by hand: it has the status and the text of the response.
type statusError struct {
	status int
	text   string
}

// Error returns the status and the text.
func (e *statusError) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.text) }

// condition is the header of a conditional request.
const condition = `W/"0123456789abcdef"`

// tagOrStatus reads a tag by hand, or the error of a response with another status.
func (c *byHand) tagOrStatus(ctx context.Context, d *digest) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+tagPath, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Private-Token", token)
	req.Header.Set("If-None-Match", condition)
	answer, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, err := io.ReadAll(answer.Body)
		return errors.Join(err, &statusError{answer.StatusCode, string(text)})
	}
	var t handTag
	err = decodeJSON(answer.Body, &t)
	addTag(&t, d)
	return err
}

// conditional reads a tag with a condition.
func (c *ours) conditional(ctx context.Context, d *digest) error {
	t, err := c.client.Registry.GetTag(ctx, forge.Path("group/app"), 7, "release/1.0", forge.Header("If-None-Match", condition))
	if err == nil {
		d.add(t.Name, t.Digest, t.TotalSize, t.CreatedAt.Unix())
	}
	return err
}

func (c *peer) conditional(ctx context.Context, d *digest) error {
	t, _, err := c.client.ContainerRegistry.GetRegistryRepositoryTagDetail("group/app", 7, "release/1.0", gitlab.WithContext(ctx), gitlab.WithHeader("If-None-Match", condition))
	if err == nil {
		d.add(t.Name, t.Digest, t.TotalSize, t.CreatedAt.Unix())
	}
	return err
}

// failing turns the expected failure of a work into success, and success into failure. The check
// before the measurements also compares the text of the error.
func failing(do work, text string) work {
	var own digest
	return func(ctx context.Context, d *digest) error {
		d.count++
		err := do(ctx, &own)
		switch {
		case err == nil:
			return errors.New("the call has not failed")
		case d.full && !strings.Contains(err.Error(), text):
			return fmt.Errorf("the error has not %q: %w", text, err)
		}
		return nil
	}
}

// errorPaths measures calls that fail, relative to the success of the same contender. All calls
// send the same header.
func errorPaths(ctx context.Context, b *bench) (lines []line, err error) {
	ours := func(r reply) work {
		once := forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1})
		return newOurs(noServer, once, forge.WithHTTPClient(&http.Client{Transport: newInTurn(r)})).conditional
	}
	hand := func(r reply) work { return newHand(noServer, newInTurn(r)).tagOrStatus }
	peer := func(r reply) work {
		return newPeer(noServer, gitlab.WithoutRetries(), withTransport(newInTurn(r))).conditional
	}
	for _, r := range []reply{
		{status: http.StatusNotFound, text: `{"message":"404 Tag Not Found"}`}, {status: http.StatusNotModified},
		{status: http.StatusTooManyRequests, text: `{"message":"429 Too Many Requests"}`},
	} {
		name := strconv.Itoa(r.status)
		peerText := name
		if r.status == http.StatusNotModified {
			peerText = "EOF" // the peer decodes the body, which a 304 does not have
		}
		taken, err := race{rounds: 5 * b.rounds, times: b.scaled(2000, 500)}.run(ctx, []contender{
			{forgeName, failing(ours(r), name)}, {forgeName + bare, counted(ours(tagReply))},
			{handName, failing(hand(r), name)}, {handName + bare, counted(hand(tagReply))},
			{peerName, failing(peer(r), peerText)}, {peerName + bare, counted(peer(tagReply))},
		})
		if err != nil {
			return nil, err
		}
		time, count := relativeLine(taken, "CPU of a "+name+" relative to a 200", cpu), relativeLine(taken, "allocations of a "+name+" relative to a 200", allocs)
		time.limit, count.limit = 2, 2
		lines = append(lines, time, count, lineOf(taken, forgeName, "CPU of a "+name, cpu, showTime))
	}
	return lines, nil
}

// logger returns a logger that discards its records, and those below level without formatting them.
func logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: level}))
}

// loggedTag reads a tag by hand, and logs the call as forge does.
func (c *byHand) loggedTag(log *slog.Logger) work {
	return func(ctx context.Context, d *digest) error {
		start := time.Now()
		err := c.tag(ctx, d)
		if log.Enabled(ctx, slog.LevelDebug) {
			log.LogAttrs(ctx, slog.LevelDebug, "call", slog.String("method", http.MethodGet), slog.String("path", tagPath),
				slog.Int("status", http.StatusOK), slog.Duration("duration", time.Since(start)))
		}
		return err
	}
}

// observers measures a registry tag from memory with loggers and a hook, above the same call
// without.
func observers(ctx context.Context, b *bench) (lines []line, err error) {
	answer := fromMemory(tagDocument)
	memory := forge.WithHTTPClient(&http.Client{Transport: answer})
	hand := newHand(noServer, answer)
	var hooked int
	for _, o := range []struct {
		name   string
		option forge.Option
		log    *slog.Logger
		allocs float64
		time   float64
	}{
		{"no logger", forge.WithLogger(nil), nil, 0.5, 500},
		{"slog.DiscardHandler", forge.WithLogger(slog.New(slog.DiscardHandler)), slog.New(slog.DiscardHandler), 0.5, 1000},
		{"a logger whose level is off", forge.WithLogger(logger(slog.LevelError)), logger(slog.LevelError), 0.5, 1000},
		{"a logger at debug", forge.WithLogger(logger(slog.LevelDebug)), logger(slog.LevelDebug), 0, 0},
		{"a hook", forge.WithOnAttempt(func(context.Context, forge.Attempt) { hooked++ }), nil, 0, 1000},
	} {
		contenders := []contender{{forgeName, newOurs(noServer, memory, o.option).tag}, {forgeName + bare, newOurs(noServer, memory).tag}}
		if o.log != nil {
			contenders = append(contenders, contender{handName, hand.loggedTag(o.log)}, contender{handName + bare, hand.tag})
		}
		taken, err := race{rounds: 5 * b.rounds, times: b.scaled(2000, 1000)}.run(ctx, contenders)
		if err != nil {
			return nil, err
		}
		count, time := addedLine(taken, "allocations added by "+o.name, allocs, showCount), addedLine(taken, "CPU added by "+o.name, cpu, showTime)
		count.limit, time.limit = o.allocs, o.time
		lines = append(lines, count, time)
	}
	if hooked == 0 {
		return nil, errors.New("the hook was not called")
	}
	return lines, nil
}

// manyClients measures 1,000 clients, each with its own token and one call: the memory that stays
// in use, and the CPU time.
func manyClients(ctx context.Context, b *bench) ([]line, error) {
	const clients = 1000
	answer := fromMemory(tagDocument)
	kept := make([]any, clients)
	build := map[string]func(i int) (client any, do work){
		forgeName: func(i int) (any, work) {
			c := &ours{must(forge.NewClient(noServer, forge.WithToken(token+strconv.Itoa(i)), forge.WithHTTPClient(&http.Client{Transport: answer})))}
			return c, c.tag
		},
		handName: func(int) (any, work) {
			c := newHand(noServer, answer)
			return c, c.tag
		},
		peerName: func(i int) (any, work) {
			c := &peer{must(gitlab.NewClient(token+strconv.Itoa(i), gitlab.WithBaseURL(noServer), withTransport(answer)))}
			return c, c.tag
		},
	}
	taken := map[string]median{}
	for range b.scaled(15, 5) {
		for name, one := range build {
			clear(kept)
			before, used := liveHeap(), cpuTime()
			for i := range kept {
				client, do := one(i)
				if err := do(ctx, &digest{}); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				kept[i] = client
			}
			f := figures{cpu: (cpuTime() - used) / clients}
			f.bytes = (liveHeap() - before) / clients
			taken[name] = append(taken[name], f)
		}
	}
	runtime.KeepAlive(kept)
	return []line{
		lineOf(taken, forgeName, "memory a client", heap, func(n float64) string { return fmt.Sprintf("%.0f B", n) }),
		lineOf(taken, forgeName, "CPU of a client and its first call", cpu, showTime),
	}, nil
}

// liveHeap returns the bytes of the heap that are in use.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC() // finalizers and pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
