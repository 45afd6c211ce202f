package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/forge-sdk/forge-go"
)

// logger returns a logger that discards its records, and those below level without formatting them.
func logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: level}))
}

// loggedTag reads a tag by hand, and logs the call as forge does.
func (c *byHand) loggedTag(log *slog.Logger) work {
	return func(ctx context.Context, d *digest) error {
		start := time.Now()
		err := c.tag(ctx, d)
		if log.Enabled(ctx, slog.LevelDebug) {
			log.LogAttrs(ctx, slog.LevelDebug, "call", slog.String("method", http.MethodGet), slog.String("path", tagPath),
				slog.Int("status", http.StatusOK), slog.Duration("duration", time.Since(start)))
		}
		return err
	}
}

// none is the limit of a count that has to be zero, because a limit of zero is not set.
const none = 0.5

// observers measures a registry tag from memory with loggers and a hook, above the same call
// without.
func observers(ctx context.Context, b *bench) (lines []line, err error) {
	answer := fromDocuments(oneTag())
	memory := forge.WithHTTPClient(&http.Client{Transport: answer})
	hand, hooked := newHand(noServer, answer), 0
	discard, off, debug := slog.New(slog.DiscardHandler), logger(slog.LevelError), logger(slog.LevelDebug)
	for _, o := range []struct {
		name         string
		option       forge.Option
		log          *slog.Logger
		time, allocs float64 // limits, if they are not 0
	}{
		{"no logger", forge.WithLogger(nil), nil, 0, none},
		{"slog.DiscardHandler", forge.WithLogger(discard), discard, 1000, none},
		{"a logger whose level is off", forge.WithLogger(off), off, 1000, none},
		{"a logger at debug", forge.WithLogger(debug), debug, 0, 0},
		{"a hook", forge.WithOnAttempt(func(context.Context, forge.Attempt) { hooked++ }), nil, 1000, 0},
	} {
		contenders := []contender{{forgeName, newOurs(noServer, memory, o.option).tag}, {forgeName + bare, newOurs(noServer, memory).tag}}
		if o.log != nil {
			contenders = append(contenders, contender{handName, hand.loggedTag(o.log)}, contender{handName + bare, hand.tag})
		}
		taken, err := race{rounds: 5 * b.rounds, times: b.scaled(2000, 1000), sent: oneTag()}.run(ctx, contenders)
		if err != nil {
			return nil, err
		}
		time, count := added(taken, "added by "+o.name)
		time.limit, count.limit, time.noisy = o.time, o.allocs, true
		lines = append(lines, time, count)
	}
	if hooked == 0 {
		return nil, errors.New("the hook was not called")
	}
	return lines, nil
}
