package simulation

import (
	"fmt"
	"strconv"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// Protocol is how the client speaks to the server.
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

// The credentials. An OAuth token expires as the plan says, and is refreshed at the token endpoint.
const (
	PersonalToken AuthKind = iota
	JobToken
	OAuth
	None
)

func (a AuthKind) String() string { return name(int(a), "PersonalToken", "JobToken", "OAuth", "None") }

// WorldPlan is everything about a world that is drawn before its bubble opens: plain data, which
// can be printed.
type WorldPlan struct {
	Protocol Protocol
	Auth     AuthKind
	// Lifetime is that of each OAuth access token; 0 is two hours.
	Lifetime time.Duration
	// Rotating lets each refresh token be good for one refresh.
	Rotating bool
	// Proxy puts a proxy between the client and the servers: CONNECT for TLS, plain forwarding for
	// HTTP1, none for H2C.
	Proxy bool
	// PlainHTTP gives the client WithPlainHTTP.
	PlainHTTP bool
	// Streams is how many requests a connection of HTTP/2 takes at a time; 0 is net/http's 250.
	Streams int
	Data    DataPlan
	// Latency is that of each direction of every connection, for every write.
	Latency time.Duration
	Faults  []Fault
	Retry   forge.RetryPolicy
}

// DataPlan is what forgetest holds at the start. The group is "group", the project "group/app".
type DataPlan struct {
	Issues, MergeRequests int
	Tags                  int // of one repository of the container registry
	Repositories          int // further ones, without tags
	Users, Runners        int
	Emails                int // of the default user
	AuditEvents           int // of the instance, and of the group and the project
	ResourceGroups        int
	Placeholders          int
	SecureFiles           []int // sizes in bytes
	Files                 int   // in the tree of the git repository
	Blobs                 []int // sizes in bytes of generated files there
}

// Point is where on the way of a request a fault acts.
type Point int

// The points, in the order in which a request passes them.
const (
	AtDial   Point = iota // before there is a connection
	AtHead                // byte Byte of the request's header as sent; HTTP1 without a proxy only
	AtBody                // byte Byte of the request's body, in the server
	AtBefore              // the request has come whole, and has no effect yet
	AtAfter               // the call was carried out, and nothing of the response was sent
	AtHeader              // byte Byte of the response as sent, header first
	AtData                // byte Byte of the response's body
)

func (p Point) String() string {
	return name(int(p), "AtDial", "AtHead", "AtBody", "AtBefore", "AtAfter", "AtHeader", "AtData")
}

// FaultKind is what goes wrong.
type FaultKind int

// The kinds. Each says at which points it can act; elsewhere it does nothing.
const (
	Refuse   FaultKind = iota // AtDial: the connection is refused
	Slow                      // AtDial: it takes Wait longer. AtHeader, AtData: Wait for each further Length bytes
	Reset                     // the connection is reset
	Cut                       // the connection is closed in good order, too early
	Stall                     // nothing is delivered for Wait; 0 is for ever
	Garble                    // AtHeader, AtData: Length bytes (1) are changed
	Repeat                    // AtHeader, AtData: Length bytes (1) come twice
	Interim                   // AtBefore: Status (100 to 199) in front of the response, Length times (1)
	Respond                   // AtBody, AtBefore, AtAfter: Status in place of the response, see Retry and Target
	GoAway                    // AtBefore, AtAfter: the server will not use the connection again, and says so
	Abort                     // AtBody, AtBefore, AtAfter, AtData: RST_STREAM; over HTTP/1 the connection closes
	Restart                   // AtBefore, AtAfter: all connections die, and new ones are refused for Wait
	JumpDate                  // AtBefore, AtAfter: the server's clock jumps by Wait, back where it is negative
	Expire                    // AtBefore: the OAuth access tokens that were given out are not valid any more
	Insert                    // AtBefore, AtAfter: Length rows (1) come into the list that the request reads
	Delete                    // AtBefore, AtAfter: Length rows (1) are taken out of it
	Relink                    // AtAfter: the response's link to the next page leads to Target
	Endless                   // AtAfter: the header of the response does not end
)

func (k FaultKind) String() string {
	return name(int(k), "Refuse", "Slow", "Reset", "Cut", "Stall", "Garble", "Repeat", "Interim", "Respond", "GoAway", "Abort",
		"Restart", "JumpDate", "Expire", "Insert", "Delete", "Relink", "Endless")
}

// Target is where a redirect or a link leads.
type Target int

// The targets.
const (
	Nowhere    Target = iota // no address at all
	Moved                    // a path of the same origin that serves the same
	Other                    // another origin
	Itself                   // the address of the request
	Start                    // Relink: the first page of the list
	Downgrade                // http in place of https
	Userinfo                 // an address with a user and password
	Unparsable               // no address that can be parsed
	Back                     // another origin, which redirects back
)

func (t Target) String() string {
	return name(int(t), "Nowhere", "Moved", "Other", "Itself", "Start", "Downgrade", "Userinfo", "Unparsable", "Back")
}

// RetryAfter is how a response says when to come again.
type RetryAfter int

// The forms. Wait is the time that they say.
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

// Fault is keyed by what it hits, and never by the order in which requests arrive.
type Fault struct {
	// Call is the value of the request header X-Call; "*" is every request. Requests without the
	// header have Call "": the refresh of a token, CONNECT.
	Call string
	// Origin is where the request arrives: "" for the server, "other", "token" or "proxy".
	Origin string
	// Route is method and path, "POST /oauth/token"; empty is every one.
	Route string
	// Page is the value of page, cursor or page_token in the query, "#3" the third one of the call
	// that was asked for; empty is every one.
	Page string
	// Attempt counts the requests of the same call, method and URL from 1; 0 is every one. AtDial it
	// counts the dials of the call to that origin.
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

// String tells a story's line of the fault.
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

// name gives the name of a constant.
func name(i int, names ...string) string {
	if i < 0 || i >= len(names) {
		return strconv.Itoa(i)
	}
	return names[i]
}
