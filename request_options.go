package forge

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// RequestOption changes a single call. One that does not fit the call is a *ValidationError. Of one
// that is given twice and sets a number or a policy the last counts, so that a helper's can be
// replaced; Query adds to the earlier ones. Into, Progress, DryRun, Checksum, StartAt, Sudo and a
// Header of the same name are refused the second time, as the first would be lost.
type RequestOption func(*callOptions)

// executor is the kind of call: what is done with the answer.
type executor uint8

const (
	kindDo executor = 1 << iota
	kindExec
	kindOpen
	kindList
	kindAny = kindDo | kindExec | kindOpen | kindList
)

// callOptions is what the request options set.
type callOptions struct {
	kind      executor
	onePage   bool
	unchecked bool
	complete  bool
	into      *Response
	perPage   int
	startAt   Cursor
	ahead     int
	header    http.Header
	query     url.Values
	retry     RetryPolicy
	progress  func(done, total int64)
	limits    limits
	plan      func(*call) error // instead of sending
	sum       checksum
	err       error
	room      *call // for the call that is made of them, in the same piece of memory
}

// again is an option for further requests of the same method: it has the headers, the retry policy and the limits.
func (o *callOptions) again() RequestOption {
	return func(more *callOptions) { more.header, more.retry, more.limits = o.header, o.retry, o.limits }
}

// fits records the option's misuse and reports whether it may go on.
func (o *callOptions) fits(option string, kinds executor) bool {
	if o.kind&kinds == 0 {
		o.refuse(option, "", "it does not fit this kind of call")
	}
	return o.err == nil
}

// fitsOnce is fits for an option of which a second one would undo the first.
func (o *callOptions) fitsOnce(option string, kinds executor, given bool) bool {
	if given {
		o.refuse(option, "", "it is given twice, so the first would be lost")
	}
	return o.fits(option, kinds)
}

func (o *callOptions) refuse(option, param, reason string) {
	if o.err != nil {
		return
	}
	o.err = &ValidationError{Option: option, Param: param, Reason: reason}
}

// Into stores what came with the response: status, headers, request id, cursor. It is emptied when
// the call begins, so that a call without a response leaves it empty. A list writes it anew with
// each page, from the goroutine that ranges.
func Into(response *Response) RequestOption {
	return func(o *callOptions) {
		if response != nil {
			*response = Response{}
		}
		if o.fitsOnce("Into", kindAny, o.into != nil && o.into != response) {
			o.into = response
		}
	}
}

// OnePage ends a list after one page; Response.Cursor tells where the next begins.
func OnePage() RequestOption {
	return func(o *callOptions) {
		if o.fits("OnePage", kindList) {
			o.onePage = true
		}
	}
}

// PerPage sets the number of items that a list asks for at a time: 100 unless set, which is also the most that servers give.
func PerPage(n int) RequestOption {
	return func(o *callOptions) {
		if !o.fits("PerPage", kindList) {
			return
		}
		if o.perPage = n; n < 1 {
			o.refuse("PerPage", "per_page", "it must be at least 1")
		}
	}
}

// StartAt goes on with a list where an earlier run left off. A finished cursor yields nothing, the zero cursor starts over,
// and the cursor of another list is refused. PerPage and Ahead may change between runs, filters may not.
func StartAt(cursor Cursor) RequestOption {
	return func(o *callOptions) {
		if o.fitsOnce("StartAt", kindList, o.startAt != "") {
			o.startAt = cursor
		}
	}
}

// Ahead fetches up to n pages, at most 64, before the loop needs them; items still come in order.
// Larger numbers mean 64.
//
// The pages are fetched in separate goroutines, which end with the loop. They call hooks, the
// Limiter, the logger and the transport. A panic of such a function is raised in the goroutine that
// ranges, and one that ends its goroutine (runtime.Goexit) ends the list with an error. When the
// context ends or the loop is left, the list waits for its goroutines at most 100 ms: one that is
// inside such a function then ends when the function returns.
func Ahead(n int) RequestOption {
	return func(o *callOptions) {
		if !o.fits("Ahead", kindList) {
			return
		}
		if o.ahead = min(n, maxAhead); n < 0 {
			o.refuse("Ahead", "", "it must not be negative")
		}
	}
}

// Sudo acts as another user, by id; administrators only (Document 1 §5). It is sent as a header, to the client's own
// server only.
func Sudo(user int64) RequestOption {
	return func(o *callOptions) {
		if !o.fitsOnce("Sudo", kindAny, o.header["Sudo"] != nil) {
			return
		}
		if user <= 0 {
			o.refuse("Sudo", "sudo", "the id is not positive")
			return
		}
		o.setHeader("Sudo", strconv.FormatInt(user, 10))
	}
}

// Header adds a request header. Headers that carry credentials or frame the message are refused.
func Header(name, value string) RequestOption {
	return func(o *callOptions) {
		if !o.fits("Header", kindAny) {
			return
		}
		switch canonical := http.CanonicalHeaderKey(name); {
		case isCredentialHeader(canonical):
			o.refuse("Header", canonical, "it carries a credential: use a client option, or Sudo")
		case canonical == "Idempotency-Key" || canonical == "X-Idempotency-Key":
			o.refuse("Header", canonical, "net/http sends requests with it again by itself, and the API documents none")
		case isFraming(canonical):
			o.refuse("Header", canonical, "it is set by the transport")
		case !validHeaderName(name) || hasControl(value):
			o.refuse("Header", "", "the name or value is not a legal header")
		case o.header[canonical] != nil:
			o.refuse("Header", canonical, "it is given twice, so the first would be lost")
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

// Query adds an undocumented query parameter. Parameters that carry credentials are refused.
func Query(name, value string) RequestOption {
	return func(o *callOptions) {
		if !o.fits("Query", kindAny) {
			return
		}
		if name == "" || isCredentialParam(name) {
			o.refuse("Query", name, "the name is empty or carries a credential: use a client option, or Sudo")
			return
		}
		if o.query == nil {
			o.query = url.Values{}
		}
		o.query.Add(name, value)
	}
}

// Retry replaces the client's retry policy for this call.
func Retry(policy RetryPolicy) RequestOption {
	return func(o *callOptions) {
		if o.fits("Retry", kindAny) {
			o.retry, o.err = policy, policy.check("Retry")
		}
	}
}

// Progress is called while a download or an upload runs, with the bytes done and the total, -1
// where it is not known. It starts at 0 again when an upload is sent again. nil reports nothing.
//
// Of a download it is called by Read. Of an upload it is called in another goroutine, before the
// bytes are sent, one call at a time, and for the last time before the call returns. A panic there
// is raised again in the goroutine of the call, and runtime.Goexit is an error of the call. The
// call returns when its context ends, even if report blocks.
func Progress(report func(done, total int64)) RequestOption {
	return func(o *callOptions) {
		if o.fitsOnce("Progress", kindDo|kindExec|kindOpen, o.progress != nil) {
			o.progress = report
		}
	}
}

// HeaderTimeout replaces the 60 s that an attempt waits for the first byte of an answer.
func HeaderTimeout(d time.Duration) RequestOption {
	return func(o *callOptions) {
		if !o.fits("HeaderTimeout", kindAny) {
			return
		}
		if o.limits.Header = d; d <= 0 {
			o.refuse("HeaderTimeout", "", "it must be positive")
		}
	}
}

// MaxBytes replaces the limit of an answer's size after decompression: 32 MiB for JSON, none for downloads.
func MaxBytes(n int64) RequestOption {
	return func(o *callOptions) {
		if !o.fits("MaxBytes", kindDo|kindList|kindOpen) {
			return
		}
		n = min(n, math.MaxInt64-1) // one more is read, to see that there is more
		if o.limits.json, o.limits.stream = n, n; n <= 0 {
			o.refuse("MaxBytes", "", "it must be positive")
		}
	}
}

// Unchecked sends the call without checking its options first: for servers that know more than this
// version of the package. A filter that the endpoint does not document is sent, a list that is empty
// and not nil as "name[]=". It also sends a call that the client would hold back because it has
// counted a documented limit itself, such as one bulk deletion an hour.
//
// What has no form on the wire is refused all the same: a comma in a label, brackets in the key of a
// Hash, a time that RFC 3339 cannot write. Path arguments are checked, too, and waits that the server
// has requested hold.
func Unchecked() RequestOption {
	return func(o *callOptions) {
		if o.fits("Unchecked", kindAny) {
			o.unchecked = true
		}
	}
}

// Complete makes an error, which matches ErrIncomplete, of a response that shows that the server
// cut it: changes that overflow, fewer diffs than were counted, diffs that are collapsed or too
// large, a comparison that ran out of time. Without it the method Incomplete of the response
// reports that.
func Complete() RequestOption {
	return func(o *callOptions) {
		if o.fits("Complete", kindDo) {
			o.complete = true
		}
	}
}

// Checksum compares a download with a checksum, in hex, while it is read: where the content differs the last Read fails with
// ErrChecksum, and SaveTo leaves no file.
func Checksum(algorithm ChecksumAlgorithm, sum string) RequestOption {
	return func(o *callOptions) {
		if !o.fitsOnce("Checksum", kindOpen, o.sum.want != "") {
			return
		}
		digest, err := hex.DecodeString(sum)
		switch {
		case algorithm != ChecksumSHA256:
			o.refuse("Checksum", "", "the algorithm is none that this version knows")
		case err != nil || len(digest) != sha256.Size:
			o.refuse("Checksum", "", "it is no SHA-256, which has 64 hex digits")
		default:
			o.sum = checksum{want: sum, make: sha256.New}
		}
	}
}
