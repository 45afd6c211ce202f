package main

import (
	"context"
	"net"
	"net/http"
	"syscall"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

// reply is a response from memory, or the error of a lost connection.
type reply struct {
	status int
	text   string
	err    error
}

// inTurn is a transport that returns its replies in turn, for one goroutine.
type inTurn struct {
	replies []reply
	texts   []*memory // of the replies
	next    int
}

func newInTurn(replies ...reply) *inTurn {
	t := &inTurn{replies: replies}
	for _, r := range replies {
		text := fromMemory(r.text)
		if r.status == http.StatusTooManyRequests {
			text.header.Set("Retry-After", "0") // another value would delay the next call
		}
		t.texts = append(t.texts, text)
	}
	return t
}

// RoundTrip returns the next reply.
func (t *inTurn) RoundTrip(req *http.Request) (*http.Response, error) {
	now, text := &t.replies[t.next], t.texts[t.next]
	t.next = (t.next + 1) % len(t.replies)
	if now.err != nil {
		return nil, now.err
	}
	response, err := text.RoundTrip(req)
	response.StatusCode, response.Status = now.status, http.StatusText(now.status)
	return response, err
}

var (
	tagReply         = reply{status: http.StatusOK, text: tagDocument}
	unavailableReply = reply{status: http.StatusServiceUnavailable, text: `{"message":"503 Service Unavailable"}`}
	lostReply        = reply{err: &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}}
)

// retriedTag sends the request up to twice.
func (c *byHand) retriedTag(ctx context.Context, d *digest) error {
	if c.tag(ctx, d) == nil {
		return nil
	}
	return c.tag(ctx, d)
}

// firstRetry measures a call whose first attempt fails, above the same call without a failure. No
// contender waits. The peer does not retry after a lost connection.
func firstRetry(ctx context.Context, b *bench) (lines []line, err error) {
	policy := forge.WithRetry(forge.RetryPolicy{MinWait: 1, MaxWait: 1})
	now := gitlab.WithCustomBackoff(func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 })
	for _, failure := range []struct {
		name  string
		reply reply
	}{{"after a 503", unavailableReply}, {"after a lost connection", lostReply}} {
		var contenders []contender
		for suffix, replies := range map[string][]reply{"": {failure.reply, tagReply}, bare: {tagReply}} {
			contenders = append(contenders,
				contender{forgeName + suffix, newOurs(noServer, policy, forge.WithHTTPClient(&http.Client{Transport: newInTurn(replies...)})).tag},
				contender{handName + suffix, newHand(noServer, newInTurn(replies...)).retriedTag})
			if hasV2 {
				contenders = append(contenders, contender{v2Name + suffix, newV2(noServer, newInTurn(replies...)).retriedTag})
			}
			if failure.reply.err == nil {
				contenders = append(contenders, contender{peerName + suffix, newPeer(noServer, now, withTransport(newInTurn(replies...))).tag})
			}
		}
		taken, err := race{rounds: 5 * b.rounds, times: b.scaled(1000, 300), sent: oneTag()}.run(ctx, contenders)
		if err != nil {
			return nil, err
		}
		time, count := added(taken, "added, "+failure.name)
		count.limit = 30
		lines = append(lines, time, count)
	}
	return lines, nil
}
