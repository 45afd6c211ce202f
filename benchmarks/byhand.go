package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// byHand is code without a client library: net/http and encoding/json, or encoding/json/v2.
type byHand struct {
	base      string
	http      *http.Client
	unmarshal func(io.Reader, any) error
}

func newHand(base string, t http.RoundTripper) *byHand {
	return &byHand{base, &http.Client{Transport: t}, func(r io.Reader, out any) error { return json.NewDecoder(r).Decode(out) }}
}

// newV2 returns code by hand that decodes with encoding/json/v2.
func newV2(base string, t http.RoundTripper) *byHand {
	return &byHand{base, &http.Client{Transport: t}, unmarshalV2}
}

// send sends a request and passes its response to read.
func (c *byHand) send(ctx context.Context, method, address string, body io.Reader, contentType string, read func(*http.Response) error) error {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	req.Header.Set("Private-Token", token)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	answer, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", address, answer.Status)
	}
	return read(answer)
}

// decode sends a request and decodes the JSON of the response into out.
func (c *byHand) decode(ctx context.Context, method, address string, body io.Reader, contentType string, out any) error {
	return c.send(ctx, method, address, body, contentType, func(answer *http.Response) error { return c.unmarshal(answer.Body, out) })
}

// one sends a request without a body, and decodes the response into the item out.
func (c *byHand) one(ctx context.Context, d *digest, method, path string, out any) error {
	err := c.decode(ctx, method, c.base+path, http.NoBody, "", out)
	if err == nil {
		d.item(out)
	}
	return err
}

func (c *byHand) issue(ctx context.Context, d *digest) error {
	i := new(handIssue)
	return c.one(ctx, d, http.MethodPost, "/api/v4/projects/group%2Fapp/issues/318/subscribe", i)
}

const tagPath = "/projects/group%2Fapp/registry/repositories/7/tags/release%2F1.0"

func (c *byHand) tag(ctx context.Context, d *digest) error {
	t := new(handTag)
	return c.one(ctx, d, http.MethodGet, "/api/v4"+tagPath, t)
}

// pages reads all pages of a list by following its links.
func (c *byHand) pages(ctx context.Context, address string, read func(*http.Response) error) error {
	for address != "" {
		next := ""
		err := c.send(ctx, http.MethodGet, address, http.NoBody, "", func(answer *http.Response) error {
			next = link(answer.Header.Get("Link"))
			return read(answer)
		})
		if err != nil {
			return err
		}
		address = next
	}
	return nil
}

// link returns the address in a Link header that has only one link.
func link(header string) string {
	address, _, _ := strings.Cut(strings.TrimPrefix(header, "<"), ">")
	return address
}

func (c *byHand) issues(ctx context.Context, d *digest) error {
	return c.issuesBy(perPage)(ctx, d)
}

// issuesBy returns a work that reads a list of issues in pages of n.
func (c *byHand) issuesBy(n int) work {
	return func(ctx context.Context, d *digest) error {
		address := fmt.Sprint(c.base, "/api/v4/issues?scope=all&per_page=", n)
		return c.pages(ctx, address, func(answer *http.Response) error {
			var page []*handIssue
			err := c.unmarshal(answer.Body, &page)
			for _, i := range page {
				d.item(i)
			}
			return err
		})
	}
}
