package forge

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"
)

// callLog writes to the logger of WithLogger.
type callLog struct{ *slog.Logger } // nil: there is none

// enabled reports whether there is a logger that records the level.
func (l callLog) enabled(ctx context.Context, level slog.Level) bool {
	return l.Logger != nil && l.Enabled(ctx, level)
}

func (l callLog) attempt(ctx context.Context, s *callState) {
	if l.enabled(ctx, slog.LevelDebug) {
		l.LogAttrs(ctx, slog.LevelDebug, "forge: attempt", withCause(s, append(logAttrs(s), slog.String("address", s.redactor(s.token).redact(redactURL(&s.url)))))...)
	}
}

func (l callLog) retry(ctx context.Context, s *callState, wait time.Duration) {
	if l.enabled(ctx, slog.LevelInfo) {
		l.LogAttrs(ctx, slog.LevelInfo, "forge: retry", withCause(s, append(logAttrs(s), slog.Duration("wait", wait)))...)
	}
}

func (l callLog) wait(ctx context.Context, s *callState, until time.Time, why string) {
	if l.enabled(ctx, slog.LevelInfo) {
		l.LogAttrs(ctx, slog.LevelInfo, "forge: wait", append(logAttrs(s), slog.Time("until", until), slog.String("reason", why))...)
	}
}

// done records a failure as a warning. A call that the caller canceled and ErrNotModified are not
// failures. It is called again when a response cannot be decoded.
func (l callLog) done(ctx context.Context, s *callState, err error, failed bool) {
	level, message := slog.LevelDebug, "forge: call"
	switch {
	case failed && errors.Is(err, context.Canceled) && ctx.Err() != nil:
		message = "forge: call canceled"
	case failed:
		level, message = slog.LevelWarn, "forge: call failed"
	}
	if !l.enabled(ctx, level) {
		return
	}
	attrs := append(logAttrs(s), slog.Duration("duration", time.Since(s.started)))
	if err != nil {
		attrs = append(attrs, slog.String("error", logText(s, err)))
	}
	l.LogAttrs(ctx, level, message, attrs...)
}

func logAttrs(s *callState) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("method", s.route().Method), slog.String("route", s.route().Template),
		slog.String("path", s.redactor(s.token).redact(s.request.path)),
		slog.String("service", s.route().Service), slog.String("class", string(s.route().Class)),
		slog.Int("attempt", s.attempts), slog.Int("status", s.status),
	}
	if id := requestID(s.header); id != "" {
		attrs = append(attrs, slog.String("request_id", id))
	}
	return attrs
}

// withCause adds the error of the attempt, if there is one.
func withCause(s *callState, attrs []slog.Attr) []slog.Attr {
	if s.err == nil {
		return attrs
	}
	return append(attrs, slog.String("error", logText(s, s.err)))
}

func logText(s *callState, err error) string {
	return s.redactor(s.token).safeText(err.Error(), maxErrorText)
}

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
