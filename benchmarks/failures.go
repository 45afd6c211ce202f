package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

// statusError is an error by hand: it has the status and the text of the response.
type statusError struct {
	status int
	text   string
}

// Error returns the status and the text.
func (e *statusError) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.text) }

// condition is the header of a conditional request.
const condition = `W/"0123456789abcdef"`

// conditional reads a tag with a condition.
func (c *ours) conditional(ctx context.Context, d *digest) error {
	t, err := c.client.Registry.GetTag(ctx, forge.Path("group/app"), 7, "release/1.0", forge.Header("If-None-Match", condition))
	if err == nil {
		d.item(t)
	}
	return err
}

// conditional reads a tag by hand, or the error of a response with another status.
func (c *byHand) conditional(ctx context.Context, d *digest) error {
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
	t := new(handTag)
	err = c.unmarshal(answer.Body, t)
	d.item(t)
	return err
}

func (c *peer) conditional(ctx context.Context, d *digest) error {
	t, _, err := c.client.ContainerRegistry.GetRegistryRepositoryTagDetail("group/app", 7, "release/1.0", gitlab.WithContext(ctx), gitlab.WithHeader("If-None-Match", condition))
	if err == nil {
		d.item(t)
	}
	return err
}

// failing turns the expected failure of a work into success, and success into failure. The check
// before the first round also compares the text of the error.
func failing(do work, text string) work {
	var own digest
	return func(ctx context.Context, d *digest) error {
		d.add("", "", 0, 0)
		err := do(ctx, &own)
		switch {
		case err == nil:
			return errors.New("the call has not failed")
		case d.check != nil && !strings.Contains(err.Error(), text):
			return fmt.Errorf("the error has not %q: %w", text, err)
		}
		return nil
	}
}

// errorPaths measures calls that fail, relative to the success of the same contender. All calls
// send the same header.
func errorPaths(ctx context.Context, b *bench) (lines []line, err error) {
	successes := conditionals(tagReply)
	if err := (race{sent: oneTag()}).agree(ctx, successes); err != nil {
		return nil, err
	}
	for _, r := range []reply{
		{status: http.StatusNotFound, text: `{"message":"404 Tag Not Found"}`}, {status: http.StatusNotModified},
		{status: http.StatusTooManyRequests, text: `{"message":"429 Too Many Requests"}`},
	} {
		name := strconv.Itoa(r.status)
		var contenders []contender
		for i, c := range conditionals(r) {
			text := name
			if c.name == peerName && r.status == http.StatusNotModified {
				text = "EOF" // the peer decodes the body, which a 304 does not have
			}
			contenders = append(contenders, contender{c.name, failing(c.do, text)}, contender{c.name + bare, counted(successes[i].do)})
		}
		taken, err := race{rounds: 5 * b.rounds, times: b.scaled(2000, 500)}.run(ctx, contenders)
		if err != nil {
			return nil, err
		}
		time := againstBare(taken, "CPU of a "+name+" relative to a 200", cpu, showRatio, over)
		count := againstBare(taken, "allocations of a "+name+" relative to a 200", allocs, showRatio, over)
		time.limit, count.limit, count.exact = 2, 2, true
		lines = append(lines, time, count, lineOf(taken, forgeName, "CPU of a "+name, cpu, showTime))
	}
	return lines, nil
}

// conditionals are the contenders that receive a reply to a conditional request, and do not retry.
func conditionals(r reply) []contender {
	once := forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1})
	contenders := []contender{
		{forgeName, newOurs(noServer, once, forge.WithHTTPClient(&http.Client{Transport: newInTurn(r)})).conditional},
		{handName, newHand(noServer, newInTurn(r)).conditional},
		{peerName, newPeer(noServer, gitlab.WithoutRetries(), withTransport(newInTurn(r))).conditional},
	}
	return withV2(contenders, noServer, func() http.RoundTripper { return newInTurn(r) }, func(c *byHand) work { return c.conditional })
}
