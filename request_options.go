package forge

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// RequestOption changes a single call. An option that does not apply to the call is a
// *ValidationError. Of two equal options, or headers of the same name, the last one counts, so that
// a helper's option can be replaced. It replaces the client's default, such as WithTimeout. Each
// Query adds a parameter.
type RequestOption func(*callOptions)

// callKind is the use that a call makes of its response. The kinds can be combined as a set.
type callKind uint8

const (
	kindJSON callKind = 1 << iota
	kindNoResult
	kindStream
	kindList
	kindRaw // of HTTPClient: the response is returned as it is
	kindAny = kindJSON | kindNoResult | kindStream | kindList
)

// subject returns what the limit of Timeout is for.
func (k callKind) subject() string {
	switch k {
	case kindList:
		return "the page"
	case kindStream:
		return "the download"
	default:
		return "the call"
	}
}

// callOptions holds the values that the request options set.
type callOptions struct {
	kind           callKind
	onePage        bool
	skipValidation bool
	into           *Response
	perPage        int
	startAt        Cursor
	ahead          int
	since          *Mark
	overlap        time.Duration
	header         http.Header
	close          bool // Request.Close of HTTPClient
	query          url.Values
	retry          RetryPolicy
	progress       func(done, total int64)
	limits         limits
	plan           func(*call) error // instead of sending
	checksum       checksum
	err            error
}

// inherit returns an option for further requests of the same method: it sets the headers, the retry
// policy and the limits.
func (o *callOptions) inherit() RequestOption {
	return func(more *callOptions) { more.header, more.retry, more.limits = o.header, o.retry, o.limits }
}

// allow reports whether the option applies to the call. If not, it records the error.
func (o *callOptions) allow(option string, kinds callKind) bool {
	if o.kind&kinds == 0 {
		o.reject(option, "", "it does not apply to this kind of call")
	}
	return o.err == nil
}

func (o *callOptions) reject(option, param, reason string) {
	if o.err != nil {
		return
	}
	o.err = &ValidationError{Option: option, Param: param, Reason: reason}
}

// checkLimit rejects a limit in which no call can end, such as 30 without a unit.
func (o *callOptions) checkLimit(option string, d time.Duration) {
	switch {
	case d <= 0:
		o.reject(option, "", "it must be positive")
	case d < time.Millisecond:
		o.reject(option, "", d.String()+" is less than a millisecond: multiply by a unit, as in 30*time.Second")
	}
}

// Into stores the status, the headers, the request id and the cursor of the response, also of one
// that is an error. response is cleared when the call begins, and stays empty if there is no
// response. A list sets it again for each page, in the goroutine that ranges over the list.
// Response.Cursor of a list is the place to continue at, also in the pair with the error. A nil
// response stores nothing.
func Into(response *Response) RequestOption {
	return func(o *callOptions) {
		if response != nil {
			*response = Response{}
		}
		if o.allow("Into", kindAny) {
			o.into = response
		}
	}
}

// OnePage ends a list after one page. [PerPage] sets its size; with [Into], Response.Total is the
// number of items of all pages, and Response.Cursor the position of the next one. It reads the page
// of a number with Query("page", "3").
func OnePage() RequestOption {
	return func(o *callOptions) {
		if o.allow("OnePage", kindList) {
			o.onePage = true
		}
	}
}

// PerPage sets the number of items per page of a list, at least 1. The default is 100, the maximum
// that servers return: a larger n is sent, and means 100. Registries accept more.
func PerPage(n int) RequestOption {
	return func(o *callOptions) {
		o.allow("PerPage", kindList)
		if o.perPage = n; n < 1 {
			o.reject("PerPage", "per_page", "it must be at least 1")
		}
	}
}

// StartAt continues a list where an earlier run ended. With a finished cursor the list yields
// nothing, with the zero cursor it starts from the beginning, and with the cursor of another list
// it returns a *ValidationError. PerPage and Ahead may change between runs, filters may not.
func StartAt(cursor Cursor) RequestOption {
	return func(o *callOptions) {
		if o.allow("StartAt", kindList) {
			o.startAt = cursor
		}
	}
}

// Ahead fetches up to n pages before the loop needs them. The items stay in order. The maximum is
// 64; a larger n means 64, and 0 fetches no page ahead. With offset pagination up to n requests run
// concurrently. With keyset pagination one request runs at a time, since each page names the next.
//
// The pages are fetched in separate goroutines, which end with the loop. They call hooks, the
// Limiter, the logger and the transport. A panic in one of these functions is raised in the
// goroutine that ranges over the list. When the context ends or the loop is left, the list waits at
// most 100 ms for its goroutines. A goroutine that is still inside such a function ends later, when
// the function returns.
func Ahead(n int) RequestOption {
	return func(o *callOptions) {
		o.allow("Ahead", kindList)
		if o.ahead = min(n, maxAhead); n < 0 {
			o.reject("Ahead", "", "it must not be negative")
		}
	}
}

// Since turns a list into a feed: it yields what has changed since the mark, and Response.Mark of
// Into is the mark to store and to pass next time. docs/changes.md describes what a feed can see.
//
// The zero mark yields everything, in the order of creation. Every other mark yields the items that
// changed, the oldest change first; for audit events, those that were added. An item is yielded at
// least once for its latest change: after a crash again from the stored mark on, and never left
// out, also if items change, are added or removed meanwhile, or become visible late (Overlap). An
// item that was deleted, moved away, or left the filter is not seen.
//
// Response.Mark moves when the loop takes the next item: inside the loop it does not include the
// current item, after the loop it is complete, and with an error it is the place to resume.
//
// The lists are those of issues, merge requests and audit events; with ListAs also those of a
// project's issues and a group's merge requests, by items of the type Issue, MergeRequest or
// json.RawMessage. Another list, a mark of another list, StartAt, OnePage, an order and bounds of
// the time that Since sets are a *ValidationError. With Ahead one page of changes is fetched ahead.
// A server that does not sort as requested is ErrUnordered, and a response without Date an
// ErrInvalidResponse.
func Since(mark Mark) RequestOption {
	return func(o *callOptions) {
		if o.allow("Since", kindList) {
			o.since = &mark
		}
	}
}

// Overlap sets how far the mark of Since stays behind the server's clock; the default is 5 minutes,
// the minimum 1 second. It must exceed the sum of all delays after which a change may become
// visible: of a transaction, of a replica, of the response, and the difference of the servers'
// clocks. What changed within the overlap is requested again by the next walk, and yielded again
// only if it differs.
func Overlap(d time.Duration) RequestOption {
	return func(o *callOptions) {
		o.allow("Overlap", kindList)
		if o.overlap = d; d < time.Second {
			o.reject("Overlap", "", "it must be at least a second, as in 5*time.Minute")
		}
	}
}

// Sudo makes the call as the user with the id; administrators only. It is sent as a header, and
// only to the client's own server. It takes no username: [UsersService.List] finds the id of one.
func Sudo(user int64) RequestOption {
	return func(o *callOptions) {
		o.allow("Sudo", kindAny)
		if user <= 0 {
			o.reject("Sudo", "sudo", "the id is not positive")
		}
		o.setHeader("Sudo", strconv.FormatInt(user, 10))
	}
}

// Header adds a request header. A conditional request has Header("If-None-Match", etag), with the
// ETag of an earlier response (Response.Header.Get("ETag") of [Into]); if nothing has changed, the
// status is 304 and the error is [ErrNotModified]. Headers that carry credentials, or that the
// transport sets, such as Content-Length, are rejected.
func Header(name, value string) RequestOption {
	return func(o *callOptions) {
		o.allow("Header", kindAny)
		switch canonical := http.CanonicalHeaderKey(name); {
		case isCredentialHeader(canonical):
			o.reject("Header", canonical, "it carries a credential: use a client option, or Sudo")
		case canonical == "Idempotency-Key" || canonical == "X-Idempotency-Key":
			o.reject("Header", canonical, "net/http would retry requests that have it, and the API does not document it")
		case isFraming(canonical):
			o.reject("Header", canonical, "it is set by the transport")
		case !validHeaderName(name) || hasControl(value):
			o.reject("Header", "", "the name or value is not a legal header")
		default:
			o.setHeader(canonical, value)
		}
	}
}

func (o *callOptions) setHeader(name, value string) {
	if o.header == nil {
		o.header = http.Header{}
	}
	o.header.Set(name, value)
}

func isFraming(name string) bool {
	switch name {
	case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Trailer", "Te", "Keep-Alive", "Expect", "Accept-Encoding":
		return true
	}
	return false
}

func validHeaderName(name string) bool {
	for _, c := range []byte(name) {
		if c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return name != ""
}

// Query adds a query parameter for which the options have no field. Parameters that carry
// credentials are rejected.
func Query(name, value string) RequestOption {
	return func(o *callOptions) {
		o.allow("Query", kindAny)
		switch {
		case name == "":
			o.reject("Query", name, "the name is empty")
		case isCredentialParam(name):
			o.reject("Query", name, "it carries a credential: use a client option, or Sudo")
		}
		if o.query == nil {
			o.query = url.Values{}
		}
		o.query.Add(name, value)
	}
}

// Retry replaces the client's retry policy for this call. Zero fields of policy mean the defaults
// of RetryPolicy, not the values of the client's policy.
func Retry(policy RetryPolicy) RequestOption {
	return func(o *callOptions) {
		if o.err == nil {
			o.retry, o.err = policy, policy.check("Retry")
		}
	}
}

// Progress calls report while a download or an upload runs, with the bytes done and the total,
// which is -1 if it is not known. done starts at 0 again when an upload is sent again. A nil report
// is not called.
//
// For a download, Read calls report. For an upload, report is called in another goroutine, before
// the bytes are sent. The calls of report do not overlap, and the last one ends before the call
// returns. A panic in report is raised again in the goroutine of the call. The call returns when
// its context ends, even if report blocks.
func Progress(report func(done, total int64)) RequestOption {
	return func(o *callOptions) {
		if o.allow("Progress", kindJSON|kindNoResult|kindStream) {
			o.progress = report
		}
	}
}

// HeaderTimeout sets how long an attempt waits for the first byte of a response; default 60 s. It
// must be positive. After it, the attempt fails with ErrTimeout.
func HeaderTimeout(d time.Duration) RequestOption {
	return func(o *callOptions) {
		o.limits.Header = d
		o.checkLimit("HeaderTimeout", d)
	}
}

// Timeout limits the time of a call with all its attempts, the waits between them, and those for a
// token, a Limiter or a rate limit. It must be positive; without it there is no such limit. After
// it, the call fails with an error that matches ErrTimeout, such as "the call took longer than 5s".
// It fails earlier if the next attempt would begin after it. The context's deadline applies as
// well, and is context.DeadlineExceeded.
//
// For a list it limits each page, and the time that the loop takes for the items does not count.
// For a download it limits the time from the call to Close, including the caller's own time: a Read
// after it returns the error. For a method that makes several requests, such as WaitDeleted, it
// limits each of them.
func Timeout(d time.Duration) RequestOption {
	return func(o *callOptions) {
		o.allow("Timeout", kindAny)
		o.limits.call = d
		o.checkLimit("Timeout", d)
	}
}

// MaxBytes sets the maximum size of a response in bytes, after decompression. The default is 32 MiB
// for JSON; downloads have no limit.
func MaxBytes(n int64) RequestOption {
	return func(o *callOptions) {
		o.allow("MaxBytes", kindJSON|kindList|kindStream|kindRaw)
		n = min(n, math.MaxInt64-1) // one more byte is read, to detect a larger response
		if o.limits.json, o.limits.stream = n, n; n <= 0 {
			o.reject("MaxBytes", "", "it must be positive")
		}
	}
}

// SkipValidation sends the call without checking its options first, for servers that know more than
// this version of the package. Filters that the endpoint does not document are sent, and a list
// that is empty and not nil is sent as "name[]=". A call is sent even if it exceeds a documented
// quota that the client counts, such as one bulk deletion an hour.
//
// Values that cannot be encoded are still an error: a comma in a label, brackets in the key of a
// Hash, a time that RFC 3339 cannot represent. Path arguments are still checked, and waits that the
// server has requested still apply.
func SkipValidation() RequestOption {
	return func(o *callOptions) {
		if o.allow("SkipValidation", kindAny) {
			o.skipValidation = true
		}
	}
}

// Checksum compares a download with a SHA-256, in hex, while it is read. If the content differs,
// the last Read returns ErrChecksum, and SaveTo leaves no file.
func Checksum(sha256Hex string) RequestOption {
	return func(o *callOptions) {
		o.allow("Checksum", kindStream)
		digest, err := hex.DecodeString(sha256Hex)
		switch {
		case strings.HasPrefix(sha256Hex, "sha256:"):
			o.reject("Checksum", "", "it begins with sha256: pass the 64 hex digits alone")
		case err != nil || len(digest) != sha256.Size:
			o.reject("Checksum", "", "it is not a SHA-256, which has 64 hex digits")
		default:
			o.checksum = checksum{want: sha256Hex, make: sha256.New}
		}
	}
}
