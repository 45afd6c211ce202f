package forgetest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// journalEntry is a request as the control shows it. It omits headers with credentials.
type journalEntry struct {
	Time         time.Time           `json:"time"`
	Method       string              `json:"method"`
	Path         string              `json:"path"`
	Query        map[string][]string `json:"query"`
	Route        string              `json:"route"` // "" if no route matched
	Header       map[string][]string `json:"header"`
	Body         string              `json:"body"`
	Status       int                 `json:"status"`
	ResponseBody string              `json:"response_body"`
	Applied      bool                `json:"applied"`
	Fault        string              `json:"fault"`
	Test         string              `json:"test"`
}

func newJournalEntry(r Request) journalEntry {
	header := r.Header.Clone()
	for _, name := range []string{"Private-Token", "Job-Token", "Authorization", "Cookie"} {
		header.Del(name)
	}
	return journalEntry{r.Time, r.Method, r.Path, r.Query, r.Route, header, text(r.Body), r.Status, text(r.ResponseBody), r.Applied, r.Fault, r.Header.Get(testHeader)}
}

// text returns a body as text: it omits the bytes of a file.
func text(body []byte) string {
	if !utf8.Valid(body) {
		return "(not a text)"
	}
	return string(body)
}

func journal(requests []Request) []journalEntry {
	list := make([]journalEntry, 0, len(requests))
	for _, r := range requests {
		list = append(list, newJournalEntry(r))
	}
	return list
}

func (c *control) matching(keep func(Request) bool) []Request {
	return slices.DeleteFunc(c.server.Requests(), func(r Request) bool { return !keep(r) })
}

func (c *control) requests(*http.Request) (any, error) {
	return map[string]any{"requests": journal(c.server.Requests())}, nil
}

func (c *control) forgetRequests(*http.Request) (any, error) {
	c.server.log.clear()
	return nil, nil
}

func (c *control) unmatchedRequests(*http.Request) (any, error) {
	return map[string]any{"requests": journal(c.matching(func(r Request) bool { return r.Route == "" }))}, nil
}

// countRequests counts the requests that have all given properties.
func (c *control) countRequests(r *http.Request) (any, error) {
	var want struct {
		Method string `json:"method"`
		Route  string `json:"route"`
		Path   string `json:"path"`
		Status int    `json:"status"`
		Test   string `json:"test"`
	}
	if err := decodeControl(r, &want); err != nil {
		return nil, err
	}
	if want.Route != "" && !c.server.routes.isRoute(want.Route) {
		return nil, c.server.unknownRoute(want.Route)
	}
	found := c.matching(func(r Request) bool {
		return (want.Method == "" || strings.EqualFold(r.Method, want.Method)) && (want.Route == "" || r.Route == canonical(want.Route)) &&
			(want.Path == "" || r.Path == want.Path) && (want.Status == 0 || r.Status == want.Status) &&
			(want.Test == "" || r.Header.Get(testHeader) == want.Test)
	})
	applied := 0
	for _, r := range found {
		if r.Applied {
			applied++
		}
	}
	return map[string]int{"count": len(found), "applied": applied}, nil
}

// Curl returns a command that sends the request again.
func (e journalEntry) Curl(server string) string {
	command := "curl"
	if e.Method != http.MethodGet {
		command += " --request " + e.Method
	}
	command += ` --header "PRIVATE-TOKEN: $TOKEN"`
	if e.Body != "" {
		command += " --header " + quoteShell("Content-Type: "+http.Header(e.Header).Get("Content-Type")) + " --data-raw " + quoteShell(e.Body)
	}
	address := server + e.Path
	if query := url.Values(e.Query).Encode(); query != "" {
		address += "?" + query
	}
	return command + " " + quoteShell(address)
}

func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
