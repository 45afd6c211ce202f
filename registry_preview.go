package forge

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	previewReads = 8  // tags read at a time
	previewAhead = 32 // tags being read or queued, so that a slow one does not delay the others
	latestTag    = "latest"
)

// DeleteTagsPreview lists the tags that a bulk deletion would remove, as far as a client can
// determine them.
type DeleteTagsPreview struct {
	// Delete are the tags that would be deleted, the newest first.
	Delete []*RegistryTagDetail
	// Keep are the tags that match by name but would stay because of KeepN or OlderThan, the newest
	// first.
	Keep []*RegistryTagDetail
	// Total is the number of tags in the repository.
	Total int
	// At is the time from which OlderThan was counted: the server's, or the local time if the response
	// has none.
	At time.Time
	// Unknown lists the reasons why the server may act differently, one sentence each; empty if Delete
	// is empty.
	Unknown []string
}

// PreviewDeleteTags lists what DeleteTags with the same options would remove, and changes nothing.
// It lists all tags and reads those whose names match, eight at a time. The rules are those of the
// contract and, where it has none, those of deployed servers. The delete pattern and the keep
// pattern are each matched as \A<pattern>\z. Of the tags that match, the newest KeepN stay, and of
// the others those that are not older than OlderThan. A tag without a creation time counts as new.
// Protected tags cannot be detected: see DeleteTagsPreview.Unknown. Request options apply to the
// list; those for headers, retries and limits apply to the reads as well.
func (s *RegistryService) PreviewDeleteTags(ctx context.Context, project Ref, repository int64, o *DeleteTagsOptions, opts ...RequestOption) (*DeleteTagsPreview, error) {
	rules, err := s.previewRules(project, repository, o, opts)
	if err != nil {
		return nil, err
	}
	preview, page := &DeleteTagsPreview{}, rules.page
	var names []string
	for tag, err := range s.ListTags(ctx, project, repository, nil, append(slices.Clip(opts), Into(page))...) {
		if err != nil {
			return nil, err
		}
		if preview.Total++; rules.matches(tag.Name) {
			names = append(names, tag.Name)
		}
	}
	tags, err := s.readTags(ctx, project, repository, names, rules.reads)
	if err != nil {
		return nil, err
	}
	if preview.At, err = http.ParseTime(page.Header.Get("Date")); err != nil {
		preview.At = time.Now()
	}
	rules.sort(tags, preview)
	return preview, nil
}

// deletionRules decide what a bulk deletion removes.
type deletionRules struct {
	remove, keep *regexp.Regexp
	keepN        int
	olderThan    time.Duration
	months       string // how olderThan counts a month, if it has one
	hosted       bool   // the server is GitLab.com
	reads        RequestOption
	page         *Response // the caller's, or a new one
}

// previewRules checks the options as DeleteTags does, and returns their rules.
func (s *RegistryService) previewRules(project Ref, repository int64, o *DeleteTagsOptions, opts []RequestOption) (*deletionRules, error) {
	r := s.newDelete("/projects/:id/registry/repositories/:repository_id/tags", project, repository).form(o)
	options, err := r.applyOptions(kindList, opts)
	if err != nil {
		return nil, err
	}
	const whole = "a preview needs the complete list: omit this option"
	switch {
	case options.onePage:
		return nil, r.withRoute(&ValidationError{Option: "OnePage", Reason: whole})
	case options.startAt != "":
		return nil, r.withRoute(&ValidationError{Option: "StartAt", Reason: whole})
	}
	options.skipValidation = false // an invalid pattern selects nothing
	if _, err := r.newCall(options); err != nil {
		return nil, err
	}
	rules := &deletionRules{
		keepN: o.KeepN, hosted: strings.HasPrefix(s.core.baseURL(), "https://gitlab.com/"),
		reads: options.inherit(), page: cmp.Or(options.into, new(Response)),
	}
	var keepErr error
	rules.remove, err = anchored(o.pattern())
	rules.keep, keepErr = anchored(o.NameRegexKeep)
	if err = firstError(err, keepErr); err != nil { // one that is valid alone may nest too deeply here
		return nil, r.withRoute(err)
	}
	if o.OlderThan != "" {
		rules.olderThan, err = o.OlderThan.duration()
		if strings.Contains(string(o.OlderThan), "mo") {
			rules.months = ", and a month as 30 days"
		}
	}
	return rules, err
}

// anchored compiles pattern as deployed servers do, without parentheses: \Aa|b\z matches what
// begins with a or ends with b. The empty pattern matches no tag.
func anchored(pattern string) (*regexp.Regexp, error) { return regexp.Compile(`\A` + pattern + `\z`) }

func (d *deletionRules) matches(name string) bool {
	return name != latestTag && d.remove.MatchString(name) && !d.keep.MatchString(name)
}

// sort divides the tags that match by name into those to delete and those to keep.
func (d *deletionRules) sort(tags []*RegistryTagDetail, preview *DeleteTagsPreview) {
	slices.SortStableFunc(tags, func(a, b *RegistryTagDetail) int {
		return cmp.Or(d.created(b, preview).Compare(d.created(a, preview)), cmp.Compare(a.Name, b.Name))
	})
	for i, tag := range tags {
		tooNew := d.olderThan > 0 && !d.created(tag, preview).Before(preview.At.Add(-d.olderThan))
		if i < d.keepN || tooNew {
			preview.Keep = append(preview.Keep, tag)
		} else {
			preview.Delete = append(preview.Delete, tag)
		}
	}
	if len(preview.Delete) == 0 {
		return // nothing is deleted, so no rule of the server changes that
	}
	preview.Unknown = []string{
		"Tags that match a protection rule stay: the API does not show the rules.",
		"Tags that are pushed or deleted after the preview are not included.",
	}
	if d.hosted {
		preview.Unknown = append(preview.Unknown, "GitLab.com removes a limited number of tags at a time, so some tags may stay until the deletion is called again.")
	}
	if d.olderThan > 0 {
		preview.Unknown = append(preview.Unknown, "The age is counted from the time of this preview"+d.months+".")
	}
}

// created returns when the tag's manifest was created, or the time of the preview for a broken
// image.
func (d *deletionRules) created(tag *RegistryTagDetail, preview *DeleteTagsPreview) time.Time {
	if tag.CreatedAt.IsZero() {
		return preview.At
	}
	return tag.CreatedAt
}

// readTags reads the tags, several at a time, and omits those that no longer exist. Any error other
// than a 404 ends it.
func (s *RegistryService) readTags(ctx context.Context, project Ref, repository int64, names []string, opts ...RequestOption) ([]*RegistryTagDetail, error) {
	r := s.newGet("/projects/:id/registry/repositories/:repository_id/tags", project, repository)
	turns := make(chan struct{}, previewReads)
	limit := func(i int, _ *RegistryTagDetail) int { return min(i+previewAhead, len(names)) }
	read := func(ctx context.Context, i int) (*RegistryTagDetail, error) {
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		tag, err := s.GetTag(ctx, project, repository, names[i-1], opts...)
		if errors.Is(err, ErrNotFound) {
			return nil, nil // the tag no longer exists
		}
		return tag, err
	}
	var tags []*RegistryTagDetail
	for tag, err := range prefetch(ctx, nil, limit, read) {
		if err != nil {
			return nil, r.withError(err)
		}
		if tag != nil {
			tags = append(tags, tag)
		}
	}
	return tags, nil
}
