package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/forge-sdk/forge-go/forgetest"
)

// embedded measures the embedded server over loopback, in this process. "By hand" is a server that
// responds with the same bytes. The client decodes nothing.
func embedded(ctx context.Context, b *bench) (lines []line, err error) {
	srv, err := forgetest.Start(forgetest.WithToken(token))
	if err != nil {
		return nil, err
	}
	defer srv.Close()
	project := srv.AddProject("group/app")
	project.AddIssues(250, nil)
	project.AddMergeRequests(1, nil)
	hand := newHand(srv.URL, transport())
	for _, read := range []struct {
		name, path string
		times      int
	}{
		{"one issue", "/api/v4/issues?scope=all&iids[]=5", b.scaled(500, 100)}, {"a page of 100 issues", "/api/v4/issues?scope=all&per_page=100", b.scaled(50, 10)},
	} {
		var text []byte
		err := hand.send(ctx, http.MethodGet, srv.URL+read.path, http.NoBody, "", func(answer *http.Response) (err error) {
			text, err = io.ReadAll(answer.Body)
			return err
		})
		if err != nil {
			return nil, err
		}
		static := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w, text) }))
		taken, err := race{rounds: 3 * b.rounds, times: read.times}.run(ctx, []contender{
			{forgeName, hand.length(srv.URL + read.path)}, {handName, hand.length(static.URL + read.path)},
		})
		static.Close()
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("%s, %d bytes", read.name, len(text))
		lines = append(lines, lineOf(taken, forgeName, "CPU, "+what, cpu, showTime), lineOf(taken, forgeName, "allocations, "+what, allocs, showCount))
	}
	return lines, nil
}

// length reads a response and adds its length.
func (c *byHand) length(address string) work {
	return func(ctx context.Context, d *digest) error {
		return c.send(ctx, http.MethodGet, address, http.NoBody, "", func(answer *http.Response) error {
			n, err := io.Copy(io.Discard, answer.Body)
			d.add("", "", n, 0)
			return err
		})
	}
}
