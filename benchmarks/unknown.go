package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/forge-sdk/forge-go"
)

const unknown = 20 // fields that no client knows

// withUnknown returns an issue that has fields that no client knows.
func withUnknown() string {
	var more strings.Builder
	for i := range unknown {
		fmt.Fprintf(&more, "%q:", unknownName(i))
		switch i % 4 {
		case 0:
			fmt.Fprintf(&more, `%d.5,`, 1000+i)
		case 1:
			fmt.Fprintf(&more, `"a text that newer servers send, number %d",`, i)
		case 2:
			fmt.Fprintf(&more, `{"id":%d,"name":"platform","active":true,"paths":["a","b"]},`, i)
		case 3:
			more.WriteString("null,")
		}
	}
	return "{" + more.String() + issue(0)[1:]
}

func unknownName(i int) string { return fmt.Sprintf("unknown_%d", i) }

// unknownNames are the fields that the peer drops.
func unknownNames() []string {
	names := make([]string, unknown)
	for i := range names {
		names[i] = unknownName(i)
	}
	return names
}

// keptIssue is an issue by hand with all its fields, as forge keeps them.
type keptIssue struct {
	handIssue
	all map[string]json.RawMessage
}

// MarshalJSON returns the fields of the struct, and those that it does not have. It is called by
// the comparison only.
func (i *keptIssue) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(&i.handIssue)
	if err != nil {
		return nil, err
	}
	fields := maps.Clone(i.all)
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// kept decodes an issue twice: by hand, this keeps all fields.
func (c *byHand) kept(ctx context.Context, d *digest) error {
	i := new(keptIssue)
	err := c.send(ctx, http.MethodPost, c.base+"/api/v4/projects/group%2Fapp/issues/318/subscribe", http.NoBody, "", func(answer *http.Response) error {
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			return err
		}
		if err := c.unmarshal(bytes.NewReader(text), &i.handIssue); err != nil {
			return err
		}
		return c.unmarshal(bytes.NewReader(text), &i.all)
	})
	if err == nil {
		d.item(i)
	}
	return err
}

// unknownFields measures an issue with fields that no client knows, and without them. By hand they
// are kept, too. The peer drops them.
func unknownFields(ctx context.Context, b *bench) ([]line, error) {
	var contenders []contender
	for suffix, text := range map[string]string{"": withUnknown(), bare: issue(0)} {
		sent := documents{"unknown", 1, func(int) string { return text }}
		all := []contender{
			{forgeName, newOurs(noServer, forge.WithHTTPClient(&http.Client{Transport: fromDocuments(sent)})).issue},
			{handName, newHand(noServer, fromDocuments(sent)).kept},
			{peerName, newPeer(noServer, withTransport(fromDocuments(sent))).issue},
		}
		all = withV2(all, noServer, func() http.RoundTripper { return fromDocuments(sent) }, func(c *byHand) work { return c.kept })
		if err := (race{sent: sent}).agree(ctx, all); err != nil {
			return nil, err
		}
		for _, c := range all {
			contenders = append(contenders, contender{c.name + suffix, counted(c.do)})
		}
	}
	taken, err := race{rounds: 5 * b.rounds, times: b.scaled(1000, 300)}.run(ctx, contenders)
	if err != nil {
		return nil, err
	}
	time, count := added(taken, "a field")
	for _, l := range []*line{&count, &time} {
		for _, figure := range []*float64{&l.ours, &l.hand, &l.v2, &l.peer} {
			*figure /= unknown
		}
	}
	count.limit = 2
	return []line{time, count}, nil
}
