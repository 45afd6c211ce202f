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

// No credential is sent to another origin, in whichever header, or in any address.
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

// No credential is in an error, a hook's report, a log record, a cursor, a printed client or a file.
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

// A request to the API has the credential of its own client.
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

// A program cannot set the header of a credential, whichever way it is spelled.
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

// most is how many attempts a call of the step has at most.
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

// A call is sent at most as often as its policy says, and once more each after a 401 and a 417.
func attemptsAreBounded(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		for _, a := range s.attempts {
			if s.row.more && a.Route == "/jwt/auth" {
				continue // of all that wait for the token
			}
			if a.Number > o.most(s)+2 || a.Number > o.most(s) && !o.plan.extra(s) {
				report(s, "attempt %d of %s %s, of %d at most", a.Number, a.Method, a.Route, o.most(s))
			}
		}
	}
}

// extra: a 401 or a 417 may come, after which a request is made again beside the policy.
func (p *Plan) extra(s *observed) bool {
	return p.World.Auth == OAuth || p.hits(s, Respond, Expire) || s.row.more
}

// A world in which nothing succeeds gets at most 40 requests more than calls, for each credential.
func deadWorldIsSpared(o *Outcome, report func(*observed, string, ...any)) {
	credentials := 2 // that of the registry is another
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

// Each request on the wire is an attempt, or a hop of a redirect; each attempt with a status was a
// request.
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
			report(s, "%d attempts had an answer, and %d requests were on the wire", answered, sent)
		}
		var failed *forge.Error
		if errors.As(s.err, &failed) && s.row.items == nil && failed.Attempts != len(s.attempts) {
			report(s, "the error counts %d attempts, and %d were reported: %v", failed.Attempts, len(s.attempts), s.err)
		}
	}
}

// The counters of the client are the sums of what its hooks were told.
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
			received = received || a.Received > 0
		}
	}
	if o.stats.Attempts != attempts || o.stats.Retries != retries {
		report(nil, "the client counts %d attempts and %d retries, and its hooks were told of %d and %d",
			o.stats.Attempts, o.stats.Retries, attempts, retries)
	}
}

// An attempt comes no sooner after the one before it than the policy and the server's Retry-After
// allow.
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
			if floor := min(least, 30*time.Second) / 20; gap < floor && !o.plan.says() {
				report(s, "attempt %d came %v after the end of the one before it", b.Number, gap)
			}
			if wait := o.announced(s, a); wait > 0 && gap < wait-time.Millisecond {
				report(s, "attempt %d came %v after an answer that said %v", b.Number, gap, wait)
			}
		}
	}
}

// announced is the wait that the answer to an attempt asked for; 0 where it is not sure.
func (o *Outcome) announced(s *observed, a attempt) time.Duration {
	for _, e := range o.exchanges(s) {
		at := a.Start.Sub(o.began)
		if e.Status != a.Status || e.Began < at || e.Began > at+a.Duration {
			continue
		}
		for _, f := range e.Faults {
			if f.Kind == Respond && f.Status == a.Status && len(e.Faults) == 1 && f.RetryAfter == Seconds {
				return f.Wait.Truncate(time.Second)
			}
		}
	}
	return 0
}

// Every failed call is an Error or a ValidationError, never a bare io.EOF, and a context that has
// not ended is no cause.
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
				report(s, "nobody has cancelled the call: %v", err)
			case errors.Is(err, context.DeadlineExceeded) && s.step.Deadline == 0 && s.row.name != "Registry.WaitDeleted":
				report(s, "the call has no deadline: %v", err)
			}
		}
	}
}

// A call fails only where a fault, its caller or the server gives a reason.
func failsForAReason(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		limited := s.step.Deadline+s.step.Cancel+s.step.Header > 0 || s.step.MaxBytes > 0 || s.step.Smuggle != ""
		if limited || s.fired != nil || o.plan.Clients[s.step.Client].Strict || len(o.plan.World.Faults) > 0 {
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
			tooLarge := s.row.upload && s.step.Size > 5<<20 // which a server would refuse
			if err != nil && !tooLarge && !errors.Is(err, forge.ErrRateLimited) {
				report(s, "nothing was sent: %v", err)
			}
			continue
		}
		if last := all[len(all)-1]; last.Status < 300 {
			report(s, "the server answered %d: %v", last.Status, err)
		}
	}
}

// A safe call is given up after a status that is worth a retry only when its attempts or the budget
// are used up; a retry that helped gives back what it took.
func budgetIsGivenBack(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if s.row.class() != forge.ClassSafe || s.row.more || s.step.Deadline+s.step.Cancel > 0 || s.fired != nil {
			continue
		}
		for _, a := range s.attempts {
			if a.Wait != 0 || a.Number >= o.most(s) || a.Status != http.StatusServiceUnavailable || o.plan.hits(s, Respond) && o.plan.says() {
				continue
			}
			if spent := o.spentAt(a.at); spent < 36 {
				report(s, "it was given up after attempt %d, and %d retries are outstanding: %v", a.Number, spent, a.Err)
			}
		}
	}
}

// spentAt is how many retries were begun until a moment by calls that have not succeeded before it.
func (o *Outcome) spentAt(at time.Duration) (spent int) {
	for _, s := range o.seen {
		for _, a := range s.attempts {
			if a.Wait > 0 && a.at <= at {
				spent++
			}
			if a.Err == nil && a.at < at {
				spent -= a.Number - 1
			}
		}
	}
	return spent
}

// says: an answer names a time, for which a call may not want to wait.
func (p *Plan) says() bool {
	return slices.ContainsFunc(p.World.Faults, func(f Fault) bool { return f.RetryAfter != Unsaid })
}
