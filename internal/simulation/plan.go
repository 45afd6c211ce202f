package simulation

import (
	"fmt"
	"strconv"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// Protocol is the protocol between the client and the server.
type Protocol int

// The protocols.
const (
	HTTP1 Protocol = iota // without TLS, at a loopback address
	H2C                   // HTTP/2 without TLS, at a loopback address
	TLS                   // HTTP/2 over TLS, at a name
	TLS1                  // HTTP/1.1 over TLS, at a name
)

func (p Protocol) String() string {
	return name(int(p), "HTTP1", "H2C", "TLS", "TLS1")
}

// secure reports whether the addresses of the world are https.
func (p Protocol) secure() bool { return p == TLS || p == TLS1 }

// AuthKind is the credential of the client.
type AuthKind int

// The credentials. An OAuth token expires as planned, and is refreshed at the token endpoint.
const (
	PersonalToken AuthKind = iota
	JobToken
	OAuth
	None
)

func (a AuthKind) String() string { return name(int(a), "PersonalToken", "JobToken", "OAuth", "None") }

// WorldPlan has everything about a world. It is drawn before the bubble opens. It is plain data and
// can be printed.
type WorldPlan struct {
	Protocol Protocol
	Auth     AuthKind
	// Lifetime of each OAuth access token; 0 means two hours.
	Lifetime time.Duration
	// Rotating makes each refresh token valid for one refresh only.
	Rotating bool
	// Proxy adds a proxy between the client and the servers: CONNECT for TLS, plain forwarding for
	// HTTP1. It has no effect for H2C.
	Proxy bool
	// PlainHTTP adds the option WithPlainHTTP to the client.
	PlainHTTP bool
	// Later lets the server be of a later release: its objects have a field that the client does not
	// know.
	Later bool
	// Streams is the limit of concurrent requests of an HTTP/2 connection; 0 means net/http's 250.
	Streams int
	Data    DataPlan
	// Latency delays every write, in each direction of every connection.
	Latency time.Duration
	Faults  []Fault
	Retry   forge.RetryPolicy
}

// DataPlan has the records of forgetest at the start. The group is "group", the project
// "group/app".
type DataPlan struct {
	Issues, MergeRequests int
	Tags                  int // of one registry repository
	Repositories          int // further registry repositories, without tags
	Users, Runners        int
	Emails                int // of the default user
	AuditEvents           int // of the instance, and of the group and the project
	ResourceGroups        int
	Placeholders          int
	SecureFiles           []int // sizes in bytes
	Files                 int   // in the tree of the Git repository
	Blobs                 []int // sizes in bytes of generated files in the Git repository
}

// Point is the moment of a request at which a fault acts.
type Point int

// The points, in the order of a request.
const (
	AtDial   Point = iota // before there is a connection
	AtHead                // byte Byte of the request's header as sent; HTTP1 without a proxy only
	AtBody                // byte Byte of the request's body, in the server
	AtBefore              // the request has arrived completely, and has no effect yet
	AtAfter               // the call has taken effect, and nothing of the response was sent
	AtHeader              // byte Byte of the response as sent, header first
	AtData                // byte Byte of the response's body
)

func (p Point) String() string {
	return name(int(p), "AtDial", "AtHead", "AtBody", "AtBefore", "AtAfter", "AtHeader", "AtData")
}

// FaultKind is the kind of a failure.
type FaultKind int

// The kinds. The comments name the points at which a kind acts; elsewhere it does nothing.
const (
	Refuse   FaultKind = iota // AtDial: the connection is refused
	Slow                      // AtDial: Wait longer; AtHead, AtHeader, AtData: Wait per Length bytes
	Reset                     // every point: the connection is reset
	Cut                       // every point: the connection is closed cleanly, but too early
	Stall                     // every point: nothing is delivered for Wait; 0: forever
	Garble                    // AtDial, AtHead, AtHeader, AtData: Length bytes (default 1) are changed
	Repeat                    // AtDial, AtHeader, AtData: Length bytes (default 1) are sent twice
	Interim                   // AtBefore: Status (100 to 199) before the response, Length times (default 1)
	Respond                   // AtBody, AtBefore, AtAfter: Status replaces the response; see RetryAfter and Target
	GoAway                    // AtBefore, AtAfter: the server announces that it will close the connection
	Abort                     // AtBody, AtBefore, AtAfter, AtData: RST_STREAM; HTTP/1 closes the connection
	Restart                   // AtBefore, AtAfter: all connections are reset, and new ones are refused for Wait
	JumpDate                  // AtBefore, AtAfter: the server's clock jumps by Wait; negative: back
	Expire                    // AtBefore: the issued OAuth access tokens are no longer valid
	Insert                    // AtBefore, AtAfter: Length rows (default 1) are added to the list of the request
	Delete                    // AtBefore, AtAfter: Length rows (default 1) are deleted from that list
	Relink                    // AtAfter: the link to the next page leads to Target
	Endless                   // AtAfter: the header of the response does not end
)

func (k FaultKind) String() string {
	return name(int(k), "Refuse", "Slow", "Reset", "Cut", "Stall", "Garble", "Repeat", "Interim", "Respond", "GoAway", "Abort",
		"Restart", "JumpDate", "Expire", "Insert", "Delete", "Relink", "Endless")
}

// Target is the destination of a redirect or a link.
type Target int

// The targets.
const (
	Nowhere    Target = iota // no address
	Moved                    // a path of the same origin with the same content
	Other                    // another origin
	Itself                   // the address of the request
	Start                    // Relink: the first page of the list
	Downgrade                // http in place of https
	Userinfo                 // an address with a user and password
	Unparsable               // an address that cannot be parsed
	Back                     // another origin, which redirects back
	Unchanged                // Relink: as it was, after another link and without headers that name pages
	Extended                 // Relink: the address that the link had, with one more parameter
)

func (t Target) String() string {
	return name(int(t), "Nowhere", "Moved", "Other", "Itself", "Start", "Downgrade", "Userinfo", "Unparsable", "Back", "Unchanged", "Extended")
}

// RetryAfter is the form in which a response requests a wait.
type RetryAfter int

// The forms. Fault.Wait is the requested time.
const (
	Unsaid     RetryAfter = iota
	Seconds               // Retry-After: 30
	Date                  // Retry-After: Sat, 01 Jan 2000 00:00:30 GMT
	ResetUnix             // RateLimit-Reset: 946684830, with RateLimit-Remaining: 0
	ResetDelta            // RateLimit-Reset: 30, with RateLimit-Remaining: 0
	Absurd                // Retry-After: 99999999999999999999
	Garbage               // Retry-After: soon
	Negative              // Retry-After: -30
)

func (r RetryAfter) String() string {
	return name(int(r), "Unsaid", "Seconds", "Date", "ResetUnix", "ResetDelta", "Absurd", "Garbage", "Negative")
}

// Fault names the requests that it hits, never by the order in which they arrive.
type Fault struct {
	// Call is the value of the request header X-Call; "*" means every request. Requests without
	// the header have Call "": the refresh of a token, CONNECT.
	Call string
	// Origin is the server that gets the request: "" for forgetest, "other", "token" or "proxy".
	Origin string
	// Route is method and path, such as "POST /oauth/token"; empty means every route.
	Route string
	// Page is the value of page, cursor, page_token or last in the query. "#3" means the third
	// distinct value within the call. Empty means every page.
	Page string
	// Attempt counts the requests with the same call, method and URL from 1; 0 means every one.
	// AtDial, it counts the dials of the call to the origin.
	Attempt int

	At         Point
	Byte       int
	Kind       FaultKind
	Wait       time.Duration
	Length     int
	Status     int
	RetryAfter RetryAfter
	Target     Target
}

// String returns the fault's line in a story.
func (f Fault) String() string {
	text := fmt.Sprintf("%s %s", f.Kind, f.At)
	switch f.At {
	case AtHead, AtBody, AtHeader, AtData:
		text += fmt.Sprintf("(%d)", f.Byte)
	}
	if f.Status != 0 {
		text += fmt.Sprintf(" status %d", f.Status)
	}
	if f.Target != 0 {
		text += " to " + f.Target.String()
	}
	if f.RetryAfter != 0 {
		text += " Retry-After " + f.RetryAfter.String()
	}
	if f.Wait != 0 {
		text += " " + f.Wait.String()
	}
	if f.Length != 0 {
		text += fmt.Sprintf(" length %d", f.Length)
	}
	text += fmt.Sprintf(" on %q", f.Call)
	if f.Origin != "" {
		text += " at " + f.Origin
	}
	if f.Route != "" {
		text += " " + f.Route
	}
	if f.Page != "" {
		text += " page " + f.Page
	}
	if f.Attempt != 0 {
		text += fmt.Sprintf(" attempt %d", f.Attempt)
	}
	return text
}

// name returns the name of a constant.
func name(i int, names ...string) string {
	if i < 0 || i >= len(names) {
		return strconv.Itoa(i)
	}
	return names[i]
}
