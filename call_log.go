package forge

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// callLog records calls. It is an interface, so that a program without a logger links neither
// slogLog nor log/slog.
type callLog interface {
	afterAttempt(ctx context.Context, c *call)                    // after an attempt
	beforeRetry(ctx context.Context, c *call, wait time.Duration) // before the wait for the next attempt
	throttled(ctx context.Context, c *call)                       // before a request that may be throttled
	done(ctx context.Context, c *call, err error, failed bool)    // when the call ends
}

// noLog is the log of a client without a logger.
type noLog struct{}

func (noLog) afterAttempt(context.Context, *call)               {}
func (noLog) beforeRetry(context.Context, *call, time.Duration) {}
func (noLog) throttled(context.Context, *call)                  {}
func (noLog) done(context.Context, *call, error, bool)          {}

// slogLog writes to a logger.
type slogLog struct{ *slog.Logger }

func (l slogLog) afterAttempt(ctx context.Context, c *call) {
	if l.Enabled(ctx, slog.LevelDebug) {
		l.LogAttrs(ctx, slog.LevelDebug, "forge: attempt", withCause(c, append(logAttrs(c), slog.String("address", c.redact(redactURL(&c.url)))))...)
	}
}

func (l slogLog) beforeRetry(ctx context.Context, c *call, wait time.Duration) {
	if l.Enabled(ctx, slog.LevelInfo) {
		l.LogAttrs(ctx, slog.LevelInfo, "forge: retry", withCause(c, append(logAttrs(c), slog.Duration("wait", wait)))...)
	}
}

func (l slogLog) throttled(ctx context.Context, c *call) {
	if !l.Enabled(ctx, slog.LevelInfo) {
		return
	}
	if until, why := c.heldUntil(); time.Until(until) > 0 {
		l.LogAttrs(ctx, slog.LevelInfo, "forge: wait", append(logAttrs(c), slog.Time("until", until), slog.String("reason", why))...)
	}
}

// done records a failure as a warning. A call that the caller canceled and ErrNotModified are not
// failures. It is called again when a response cannot be decoded.
func (l slogLog) done(ctx context.Context, c *call, err error, failed bool) {
	level, message := slog.LevelDebug, "forge: call"
	switch {
	case failed && errors.Is(err, context.Canceled) && ctx.Err() != nil:
		message = "forge: call canceled"
	case failed:
		level, message = slog.LevelWarn, "forge: call failed"
	}
	if !l.Enabled(ctx, level) {
		return
	}
	attrs := append(logAttrs(c), slog.Duration("duration", time.Since(c.retry.started)))
	if err != nil {
		attrs = append(attrs, slog.String("error", logText(c, err)))
	}
	l.LogAttrs(ctx, level, message, attrs...)
}

func logAttrs(c *call) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("method", c.route().Method), slog.String("route", c.route().Template),
		slog.String("path", c.redact(c.request.path)),
		slog.String("service", c.route().Service), slog.String("class", string(c.route().Class)),
		slog.Int("attempt", c.retry.attempts), slog.Int("status", c.response.status),
	}
	if id := requestID(c.response.header); id != "" {
		attrs = append(attrs, slog.String("request_id", id))
	}
	return attrs
}

// withCause adds the error of the attempt, if there is one.
func withCause(c *call, attrs []slog.Attr) []slog.Attr {
	if c.response.err == nil {
		return attrs
	}
	return append(attrs, slog.String("error", logText(c, c.response.err)))
}

func logText(c *call, err error) string { return c.safeText(err.Error(), maxErrorText) }

// redactURL returns an address in which only loggable query parameters have their values.
func redactURL(u *url.URL) string {
	address := u.Scheme + "://" + u.Host + u.EscapedPath()
	if u.RawQuery == "" {
		return address
	}
	var b strings.Builder
	separator := "?"
	for pair := range strings.FieldsFuncSeq(u.RawQuery, isSeparator) {
		name, value, _ := strings.Cut(pair, "=")
		if !isLoggable(name) {
			value = "..."
		}
		b.WriteString(separator + name + "=" + value)
		separator = "&"
	}
	return address + b.String()
}

// isLoggable reports whether values of a query parameter may be logged: they help, and cannot hold
// a secret or a person's data.
func isLoggable(param string) bool {
	switch param {
	case "page", "per_page", "pagination", "order_by", "sort", "scope", "state", "recursive", "view", "in", "issue_type",
		"with_labels_details", "non_archived", "straight", "unidiff", "tags", "tags_count", "size", "type", "status", "paused":
		return true
	}
	return false
}
