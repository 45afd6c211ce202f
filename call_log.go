package forge

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// callLog is told of calls. It is an interface so that a program which gives no logger links neither what follows nor log/slog.
type callLog interface {
	attempt(ctx context.Context, c *call)                     // made
	retry(ctx context.Context, c *call, wait time.Duration)   // to come after the wait
	held(ctx context.Context, c *call)                        // perhaps: the server may have asked to wait
	end(ctx context.Context, c *call, err error, failed bool) // of the call
}

// silence is the log of a client without a logger.
type silence struct{}

func (silence) attempt(context.Context, *call)              {}
func (silence) retry(context.Context, *call, time.Duration) {}
func (silence) held(context.Context, *call)                 {}
func (silence) end(context.Context, *call, error, bool)     {}

// journal is the log that writes to a logger.
type journal struct{ *slog.Logger }

func (j journal) attempt(ctx context.Context, c *call) {
	if j.Enabled(ctx, slog.LevelDebug) {
		j.LogAttrs(ctx, slog.LevelDebug, "forge: attempt", withCause(c, append(logAttrs(c), slog.String("address", c.scrub(redactURL(&c.url)))))...)
	}
}

func (j journal) retry(ctx context.Context, c *call, wait time.Duration) {
	if j.Enabled(ctx, slog.LevelInfo) {
		j.LogAttrs(ctx, slog.LevelInfo, "forge: retry", withCause(c, append(logAttrs(c), slog.Duration("wait", wait)))...)
	}
}

func (j journal) held(ctx context.Context, c *call) {
	if !j.Enabled(ctx, slog.LevelInfo) {
		return
	}
	if until, why := c.heldUntil(); time.Until(until) > 0 {
		j.LogAttrs(ctx, slog.LevelInfo, "forge: wait", append(logAttrs(c), slog.Time("until", until), slog.String("reason", why))...)
	}
}

// end records a failure as a warning. The end of a call that the caller canceled is not one, and
// neither is ErrNotModified. It is called again when a response cannot be decoded.
func (j journal) end(ctx context.Context, c *call, err error, failed bool) {
	level, message := slog.LevelDebug, "forge: call"
	switch {
	case failed && errors.Is(err, context.Canceled) && ctx.Err() != nil:
		message = "forge: call canceled"
	case failed:
		level, message = slog.LevelWarn, "forge: call failed"
	}
	if !j.Enabled(ctx, level) {
		return
	}
	attrs := append(logAttrs(c), slog.Duration("duration", time.Since(c.started)))
	if err != nil {
		attrs = append(attrs, slog.String("error", logText(c, err)))
	}
	j.LogAttrs(ctx, level, message, attrs...)
}

func logAttrs(c *call) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("method", c.route().method), slog.String("route", c.route().template),
		slog.String("path", c.scrub(c.request.path)),
		slog.String("service", c.route().service), slog.String("class", c.route().class.String()),
		slog.Int("attempt", c.retry.attempts), slog.Int("status", c.last.status),
	}
	if id := requestID(c.last.header); id != "" {
		attrs = append(attrs, slog.String("request_id", id))
	}
	return attrs
}

// withCause adds what went wrong below HTTP.
func withCause(c *call, attrs []slog.Attr) []slog.Attr {
	if c.last.err == nil {
		return attrs
	}
	return append(attrs, slog.String("error", logText(c, c.last.err)))
}

func logText(c *call, err error) string { return c.clean(err.Error(), maxErrorText) }

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
