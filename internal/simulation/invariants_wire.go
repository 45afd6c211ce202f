package simulation

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// No credential is sent to another origin, in any header, or is in any address.
func noCredentialElsewhere(o *Outcome, report func(*observed, string, ...any)) {
	for _, e := range o.wire {
		for _, secret := range o.secrets {
			if strings.Contains(e.Path+"?"+e.RawQuery, secret) {
				report(nil, "%s: a credential is in the address %s", e.Call, e.Path)
			}
			if e.Origin == "forge" || e.Origin == "token" || e.Origin == "proxy" && e.Method != http.MethodConnect {
				continue
			}
			for name, values := range e.Header {
				own := e.Origin == "proxy" && name == "Proxy-Authorization"
				if strings.Contains(strings.Join(values, "\n"), secret) && !own {
					report(nil, "%s: a credential is in the header %s of a request to %s", e.Call, name, e.Origin)
				}
			}
		}
		if e.Origin == "other" {
			for _, name := range []string{"Private-Token", "Job-Token", "Authorization", "Sudo", "Cookie", "Proxy-Authorization"} {
				if e.Header.Get(name) != "" {
					report(nil, "%s: a request to another origin has the header %s", e.Call, name)
				}
			}
		}
	}
}

// No credential is in an error, a report of a hook, a log record, a cursor, a printed client or a
// file.
func noCredentialInText(o *Outcome, report func(*observed, string, ...any)) {
	for _, secret := range o.secrets {
		for _, s := range o.seen {
			for _, text := range s.said {
				if strings.Contains(text, secret) {
					report(s, "a credential is in %.200q", text)
				}
			}
			if strings.Contains(string(o.saved[s.step.ID]), secret) {
				report(s, "a credential is in the file")
			}
		}
		if strings.Contains(o.log, secret) {
			report(nil, "a credential is in the log")
		}
	}
}

// A request to the API has the credential of the client that sent it.
func credentialIsTheClients(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		c := o.plan.Clients[s.step.Client]
		for _, e := range o.exchanges(s) {
			if e.Origin != "forge" || e.Lost || !strings.HasPrefix(e.Path, "/api/v4/") {
				continue
			}
			token := e.Header.Get("Private-Token")
			switch given := token + e.Header.Get("Job-Token") + e.Header.Get("Authorization"); {
			case c.Member && token != o.member:
				report(s, "a request does not have the token of its client")
			case c.Nobody && given != "":
				report(s, "a request without a credential has one")
			case !c.Member && !c.Nobody && o.plan.World.Auth == PersonalToken && token != o.token:
				report(s, "a request does not have the token of its client")
			}
		}
	}
}

// A program cannot set a credential header, in any spelling.
func credentialHeadersAreRefused(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if s.step.Smuggle == "" || !s.done {
			continue
		}
		err := s.err
		for _, w := range s.walks {
			err = errors.Join(err, w.err)
		}
		var refused *forge.ValidationError
		if sent := len(o.exchanges(s)); !errors.As(err, &refused) || sent > 0 {
			report(s, "%d requests were sent with the header %s: %v", sent, s.step.Smuggle, err)
		}
	}
}

// most returns the maximum number of attempts of a call.
func (o *Outcome) most(s *observed) int {
	most := 4
	if n := o.plan.World.Retry.MaxAttempts; n > 0 {
		most = n
	}
	if n := o.plan.Clients[s.step.Client].Attempts; n > 0 {
		most = n
	}
	if s.step.Retry > 0 {
		most = s.step.Retry
	}
	return most
}

// A call is sent at most as often as its policy allows, plus once after a 401 and once after a 417.
func attemptsAreBounded(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		for _, a := range s.attempts {
			if s.row.more && a.Route == "/jwt/auth" {
				continue // requests of all calls that wait for the token
			}
			if a.Number > o.most(s)+2 || a.Number > o.most(s) && !o.plan.extra(s) {
				report(s, "attempt %d of %s %s, of %d at most", a.Number, a.Method, a.Route, o.most(s))
			}
		}
	}
}

// extra reports whether a 401 or a 417 may come. Each allows one more request than the policy.
func (p *Plan) extra(s *observed) bool {
	return p.World.Auth == OAuth || p.hits(s, Respond, Expire) || s.row.more
}

// If no request succeeds, there are at most 40 requests more than calls, for each credential.
func deadWorldIsSpared(o *Outcome, report func(*observed, string, ...any)) {
	credentials := 2 // the registry has its own
	for _, c := range o.plan.Clients {
		if c.Member || c.Nobody {
			credentials++
		}
	}
	sent := int64(0)
	for _, e := range o.wire {
		if e.Origin != "forge" {
			continue
		}
		if sent++; e.Status > 0 && e.Status < 500 {
			return
		}
	}
	if most := o.stats.Calls + int64(40*credentials); sent > most {
		report(nil, "%d requests were sent for %d calls", sent, o.stats.Calls)
	}
}

// Each request on the wire is an attempt or a redirect. Each attempt with a status was a request.
func wireIsAttempts(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if s.row.more || s.recovered != nil || s.step.Ahead > 0 || !s.done {
			continue
		}
		sent, hops, answered := 0, 0, 0
		for _, e := range o.exchanges(s) {
			sent++
			if e.Status >= 300 && e.Status < 400 && e.Status != http.StatusNotModified || e.Origin == "other" {
				hops++
			}
		}
		for _, a := range s.attempts {
			if a.Status != 0 {
				answered++
			}
		}
		if sent > len(s.attempts)+hops {
			report(s, "%d requests were on the wire, and %d attempts were reported", sent, len(s.attempts))
		}
		if answered > sent && !o.plan.World.Proxy {
			report(s, "%d attempts had a response, and %d requests were on the wire", answered, sent)
		}
		var failed *forge.Error
		if errors.As(s.err, &failed) && s.row.items == nil && failed.Attempts != len(s.attempts) {
			report(s, "the error counts %d attempts, and %d were reported: %v", failed.Attempts, len(s.attempts), s.err)
		}
	}
}

// No request is sent on an HTTP/2 connection on which nothing has arrived for a minute and a half
// while a request waited for it.
func silentConnectionIsLeft(o *Outcome, report func(*observed, string, ...any)) {
	for _, first := range o.wire {
		if first.Proto != "HTTP/2.0" || len(first.Faults) != 1 || first.Faults[0].Kind != Stall || first.Faults[0].Wait > 0 || o.plan.moves(Slow) {
			continue
		}
		if at := first.Faults[0].At; at != AtHeader && at != AtData {
			continue // the server is silent, and its connection is not
		}
		for _, e := range o.wire {
			if e.Conn == first.Conn && e.Origin == first.Origin && e.Began > first.Began+90*time.Second {
				report(nil, "%s: connection %d stalled at %v, and a request was sent on it at %v", e.Call, e.Conn, first.Began, e.Began)
			}
		}
	}
}

// The counters of the client equal the sums of the reports to its hooks.
func statsAgree(o *Outcome, report func(*observed, string, ...any)) {
	attempts, retries, received := int64(0), int64(0), false
	for _, s := range o.seen {
		if !s.done || s.fired != nil {
			return
		}
		for _, a := range s.attempts {
			attempts++
			if a.Number > 1 {
				retries++
			}
			received = received || a.BytesReceived > 0
		}
	}
	if o.stats.Attempts != attempts || o.stats.Retries != retries {
		report(nil, "the client counts %d attempts and %d retries, and its hooks received %d and %d",
			o.stats.Attempts, o.stats.Retries, attempts, retries)
	}
}

// The wait before a retry is not shorter than the policy and the server's Retry-After allow, and at
// most a tenth longer than Retry-After. The shortest wait of the policy is 1/20 of MinWait: half of
// MinWait/10, after a lost connection.
func waitsAreKept(o *Outcome, report func(*observed, string, ...any)) {
	least := o.plan.World.Retry.MinWait
	if least == 0 {
		least = 500 * time.Millisecond
	}
	for _, s := range o.seen {
		for i := range s.attempts[:max(len(s.attempts)-1, 0)] {
			a, b := s.attempts[i], s.attempts[i+1]
			if b.Number != a.Number+1 || a.Route != b.Route || s.step.Ahead > 0 || a.Status == 401 || a.Status == 417 {
				continue
			}
			gap := b.Start.Sub(a.Start.Add(a.Duration))
			if floor := least / 20; gap < floor && !o.plan.says() {
				report(s, "attempt %d came %v after the end of the one before it", b.Number, gap)
			}
			wait := o.announced(s, a)
			if longest := wait + min(wait/10, time.Second); wait > 0 && (gap < wait-time.Millisecond || a.WaitAfter > longest) {
				report(s, "attempt %d came %v after a response that requested %v, and was planned after %v", b.Number, gap, wait, a.WaitAfter)
			}
		}
	}
}

// A wait that the server requests with a 429 also delays the other calls of the client.
func waitsAreShared(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		for _, a := range s.attempts {
			wait := min(o.announced(s, a), time.Hour)
			all := o.during(s, a)
			if a.Status != http.StatusTooManyRequests || !sharesWaits(a.Route) || wait == 0 || len(all) != 1 {
				continue
			}
			for _, other := range o.seen {
				if other == s || other.step.Client != s.step.Client {
					continue
				}
				if b := other.attemptWithin(a.Start.Add(a.Duration), o.began.Add(all[0].Began+wait)); b != nil {
					report(other, "attempt %d began although %s got a 429 that requested %v", b.Number, s.step.ID, wait)
				}
			}
		}
	}
}

// attemptWithin returns an attempt that began between two times and that waits of other calls
// should have delayed.
func (o *observed) attemptWithin(from, until time.Time) *attempt {
	for i, a := range o.attempts {
		if sharesWaits(a.Route) && a.Start.After(from) && a.Start.Before(until) {
			return &o.attempts[i]
		}
	}
	return nil
}

// sharesWaits reports whether a 429 of the route applies to all routes of the API. Routes with a
// documented limit have separate waits, and so has the registry.
func sharesWaits(route string) bool {
	limited := strings.HasSuffix(route, "/archive[.:format]") || strings.HasSuffix(route, "/blobs/:sha") || strings.HasSuffix(route, "/:repository_id/tags")
	return !limited && !strings.HasPrefix(route, "/v2") && !strings.HasPrefix(route, "/jwt")
}

// announced returns the wait that the response to an attempt requested; 0 if it is not certain.
func (o *Outcome) announced(s *observed, a attempt) time.Duration {
	for _, e := range o.during(s, a) {
		if e.Status != a.Status {
			continue
		}
		for _, f := range e.Faults {
			counted := f.RetryAfter == Seconds || f.RetryAfter == ResetDelta && f.Status == http.StatusTooManyRequests
			if f.Kind == Respond && f.Status == a.Status && len(e.Faults) == 1 && counted {
				return f.Wait.Truncate(time.Second)
			}
		}
	}
	return 0
}

// during lists the exchanges of a step that began while an attempt was made.
func (o *Outcome) during(s *observed, a attempt) (list []Exchange) {
	at := a.Start.Sub(o.began)
	for _, e := range o.exchanges(s) {
		if e.Began >= at && e.Began <= at+a.Duration {
			list = append(list, e)
		}
	}
	return list
}

// Every failed call returns an Error or a ValidationError, never a bare io.EOF. It does not blame a
// context that has not ended.
func errorsAreTyped(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		errs := []error{s.err}
		for _, w := range s.walks {
			errs = append(errs, w.err)
		}
		if s.stream != nil && !s.step.Save {
			errs = append(errs, s.stream.err)
		}
		for _, err := range errs {
			var failed *forge.Error
			var refused *forge.ValidationError
			switch {
			case err == nil:
			case !errors.As(err, &failed) && !errors.As(err, &refused):
				report(s, "an error of the type %T: %v", err, err)
			case errors.Is(err, context.Canceled) && s.step.Cancel == 0:
				report(s, "the caller did not cancel the call: %v", err)
			case errors.Is(err, context.DeadlineExceeded) && s.step.Deadline == 0 && s.row.name != "Registry.WaitDeleted":
				report(s, "the call has no deadline: %v", err)
			}
		}
	}
}

// A call fails only for a reason: a fault, its caller, or the status of the server's response.
func failsForAReason(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		limited := s.step.Deadline+s.step.Cancel+s.step.Header > 0 || s.step.MaxBytes > 0 || s.step.Smuggle != ""
		few := o.plan.World.Streams > 0 // a stream that the server refuses is an attempt
		if limited || few || s.fired != nil || o.plan.Clients[s.step.Client].Strict || len(o.plan.World.Faults) > 0 {
			continue
		}
		err := s.err
		for _, w := range s.walks {
			err = errors.Join(err, w.err)
		}
		if s.stream != nil {
			err = errors.Join(err, s.stream.err)
		}
		all := o.exchanges(s)
		if err == nil || len(all) == 0 {
			tooLarge := s.row.upload && s.step.Size > 5<<20 // which the client refuses, as a server would
			if err != nil && !tooLarge && !errors.Is(err, forge.ErrRateLimited) {
				report(s, "nothing was sent: %v", err)
			}
			continue
		}
		last := all[len(all)-1]
		if last.Status < 300 || last.Status == http.StatusUnauthorized && !o.plan.Clients[s.step.Client].Nobody {
			report(s, "the server responded %d: %v", last.Status, err)
		}
	}
}

// A safe call that may be retried fails only when its attempts or the retry budget are used up. A
// retry that succeeds refunds its cost.
func budgetIsGivenBack(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if s.row.class() != forge.ClassSafe || s.row.more || s.step.Deadline+s.step.Cancel > 0 || s.fired != nil {
			continue
		}
		for _, a := range s.attempts {
			if a.WaitAfter != 0 || a.Number >= o.most(s) || a.Status != http.StatusServiceUnavailable || o.plan.hits(s, Respond) && o.plan.says() {
				continue
			}
			if spent := o.spentAt(a.at); spent < 36 {
				report(s, "it was not retried after attempt %d, although only %d retries were in use: %v", a.Number, spent, a.Err)
			}
		}
	}
}

// spentAt returns the number of retries at a time whose calls have not succeeded by then.
func (o *Outcome) spentAt(at time.Duration) (spent int) {
	for _, s := range o.seen {
		for _, a := range s.attempts {
			if a.WaitAfter > 0 && a.at <= at {
				spent++
			}
			if a.Err == nil && a.at < at {
				spent -= a.Number - 1
			}
		}
	}
	return spent
}

// says reports whether a response may request a wait, which may be too long for a call.
func (p *Plan) says() bool {
	return slices.ContainsFunc(p.World.Faults, func(f Fault) bool { return f.RetryAfter != Unsaid })
}
