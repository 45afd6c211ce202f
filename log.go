package forge

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// logAttempt records one attempt.
func (c *call) logAttempt(ctx context.Context) {
	if !c.logs(ctx, slog.LevelDebug) {
		return
	}
	attrs := append(c.logAttrs(), slog.String("address", redactURL(&c.url)))
	c.client().config.logger.LogAttrs(ctx, slog.LevelDebug, "forge: attempt", c.withCause(attrs)...)
}

// logRetry records a wait before another attempt.
func (c *call) logRetry(ctx context.Context, wait time.Duration) {
	if c.logs(ctx, slog.LevelInfo) {
		attrs := append(c.logAttrs(), slog.Duration("wait", wait))
		c.client().config.logger.LogAttrs(ctx, slog.LevelInfo, "forge: retry", c.withCause(attrs)...)
	}
}

// withCause adds what went wrong below HTTP.
func (c *call) withCause(attrs []slog.Attr) []slog.Attr {
	if c.last.err == nil {
		return attrs
	}
	return append(attrs, slog.String("error", c.logText(c.last.err)))
}

// logHeld records that a call waits because the server has asked for it.
func (c *call) logHeld(ctx context.Context) {
	if !c.logs(ctx, slog.LevelInfo) {
		return
	}
	if until, why := c.client().guard.heldUntil(c.request); time.Until(until) > 0 {
		c.client().config.logger.LogAttrs(ctx, slog.LevelInfo, "forge: wait", append(c.logAttrs(), slog.Time("until", until), slog.String("reason", why))...)
	}
}

// end records the end of a call: a failure as a warning and in the counters, all else, "nothing to change" included, at debug
// level. Where a good answer turns out to be of no use it comes a second time.
func (c *call) end(ctx context.Context, err error) {
	level, message := slog.LevelDebug, "forge: call"
	if err != nil && !errors.Is(err, ErrNotModified) {
		c.client().stats.failures.Add(1)
		level, message = slog.LevelWarn, "forge: call failed"
	}
	if !c.logs(ctx, level) {
		return
	}
	attrs := append(c.logAttrs(), slog.Duration("duration", time.Since(c.started)))
	if err != nil {
		attrs = append(attrs, slog.String("error", c.logText(err)))
	}
	c.client().config.logger.LogAttrs(ctx, level, message, attrs...)
}

func (c *call) logs(ctx context.Context, level slog.Level) bool {
	logger := c.client().config.logger
	return logger != nil && logger.Enabled(ctx, level)
}

func (c *call) logAttrs() []slog.Attr {
	attrs := []slog.Attr{
		slog.String("method", c.route().method), slog.String("route", c.route().template),
		slog.String("service", c.route().service), slog.String("class", c.route().class.String()),
		slog.Int("attempt", c.attempts), slog.Int("status", c.last.status),
	}
	if id := requestID(c.last.header); id != "" {
		attrs = append(attrs, slog.String("request_id", id))
	}
	return attrs
}

func (c *call) logText(err error) string {
	return c.clean(err.Error(), maxErrorText)
}

// redactURL writes an address with the values of harmless query parameters only.
func redactURL(u *url.URL) string {
	address := u.Scheme + "://" + u.Host + u.EscapedPath()
	if u.RawQuery == "" {
		return address
	}
	var b strings.Builder
	separator := "?"
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if !isHarmless(name) {
			value = "..."
		}
		b.WriteString(separator + name + "=" + value)
		separator = "&"
	}
	return address + b.String()
}

// isHarmless lists the parameters whose values are worth a log line and cannot hold a secret or a person's data.
func isHarmless(param string) bool {
	switch param {
	case "page", "per_page", "pagination", "order_by", "sort", "scope", "state", "recursive", "view", "in", "issue_type",
		"with_labels_details", "non_archived", "straight", "unidiff", "tags", "tags_count", "size", "type", "status", "paused":
		return true
	}
	return false
}
