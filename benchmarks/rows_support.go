package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// v2Name is the contender with encoding/json/v2 in place of encoding/json, on Go 1.27 and later.
const v2Name = "v2"

// bare is the suffix of contenders that do the same work without what the row measures.
const bare = ", bare"

// decoder decodes the JSON of a response.
type decoder func(r io.Reader, out any) error

func decodeJSON(r io.Reader, out any) error { return json.NewDecoder(r).Decode(out) }

// handRead returns the work of a request by hand: it decodes the response and adds it to the
// digest.
func handRead[T any](c *byHand, method, path string, decode decoder, add func(*T, *digest)) work {
	return func(ctx context.Context, d *digest) error {
		var out T
		err := c.send(ctx, method, c.base+path, http.NoBody, "", func(answer *http.Response) error {
			return decode(answer.Body, &out)
		})
		if err == nil {
			add(&out, d)
		}
		return err
	}
}

// counted returns do without its values, for rows whose contenders read different documents.
func counted(do work) work {
	var own digest
	return func(ctx context.Context, d *digest) error {
		d.count++
		return do(ctx, &own)
	}
}

// withV2 adds the contender with encoding/json/v2, if this release has it.
func withV2(contenders []contender, name string, build func(decoder) work) []contender {
	if decodeV2 == nil {
		return contenders
	}
	return append(contenders, contender{name, build(decodeV2)})
}

// v2Lines returns the line that compares forge with encoding/json/v2 by hand, if it was measured.
func v2Lines(taken map[string]median, what string, pick metric, show func(float64) string) []line {
	if len(taken[v2Name]) == 0 {
		return nil
	}
	return []line{{what: what + ", by hand with encoding/json/v2", show: show, ours: taken[forgeName].of(pick), hand: taken[v2Name].of(pick)}}
}

// paired returns the median over the rounds of f, which receives the figures of two contenders in
// the same round.
func paired(taken map[string]median, name, other string, pick metric, f func(a, b float64) float64) float64 {
	values := make([]float64, len(taken[name]))
	for i, figure := range taken[name] {
		values[i] = f(pick(figure), pick(taken[other][i]))
	}
	return middle(values)
}

func minus(a, b float64) float64 { return a - b }

func over(a, b float64) float64 { return a / b }

// addedLine returns the line of what each contender's figure is above that of its bare form.
func addedLine(taken map[string]median, what string, pick metric, show func(float64) string) line {
	return line{
		what: what, show: show, ours: paired(taken, forgeName, forgeName+bare, pick, minus),
		hand: paired(taken, handName, handName+bare, pick, minus), peer: paired(taken, peerName, peerName+bare, pick, minus),
	}
}

// relativeLine returns the line of each contender's figure relative to that of its bare form.
func relativeLine(taken map[string]median, what string, pick metric) line {
	return line{
		what: what, show: showRatio, ours: paired(taken, forgeName, forgeName+bare, pick, over),
		hand: paired(taken, handName, handName+bare, pick, over), peer: paired(taken, peerName, peerName+bare, pick, over),
	}
}

func showRatio(x float64) string { return fmt.Sprintf("%.2f", x) }

func showSpeed(bytesPerSecond float64) string { return fmt.Sprintf("%.0f MB/s", bytesPerSecond/1e6) }

// wholeName is the contender that reads the whole response before it decodes it.
const wholeName = "whole"

// decodeWhole decodes as a program does that reads the whole response first.
func decodeWhole(r io.Reader, out any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}
