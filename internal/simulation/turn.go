package simulation

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/forgetest"
)

// turn does what changes the server rather than the exchange.
func (w *World) turn(p *passage, f Fault) {
	switch f.Kind {
	case GoAway:
		p.w.Header().Set("Connection", "close")
	case JumpDate:
		w.change(func() { w.dateOff += f.Wait })
		w.Server.SetClock(w.date)
	case Expire:
		w.tokens.expire()
	case Insert:
		for range max(1, f.Length) {
			w.insert(p.r.URL.EscapedPath())
		}
	case Delete:
		for range max(1, f.Length) {
			w.remove(p, f.Byte)
		}
	}
}

// date is the server's clock, which may have jumped.
func (w *World) date() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().UTC().Add(w.dateOff)
}

// restart ends all connections to the address of one, and refuses new ones for a time.
func (w *World) restart(c *conn, down time.Duration) {
	if c != nil {
		for _, end := range w.net.restart(c.local.String(), down) {
			w.strike(end)
		}
	}
}

// Row is a row that a fault has put into a list or taken out of it.
type Row struct {
	At     time.Duration
	List   string // the last part of the list's path: "issues"
	Delete bool
	Key    string // id, or the name of what has none
}

// Rows returns the rows that faults have moved, in order.
func (w *World) Rows() []Row {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.rows)
}

// insert adds a row to the list at a path.
func (w *World) insert(path string) {
	d, list := &w.Data, lastPart(path)
	w.mu.Lock()
	w.inserted++
	n := w.inserted
	w.mu.Unlock()
	name, key := fmt.Sprintf("inserted-%d", n), ""
	switch list {
	case "issues":
		key = decimal(d.Project.AddIssue(func(doc *forgetest.Document) { doc.Set("title", name) }).ID)
	case "merge_requests":
		if d.MergeRequests == nil {
			return // a merge request needs a repository with commits
		}
		key = decimal(d.Project.AddMergeRequest(nil).ID)
	case "tags":
		if d.Registry == nil {
			return
		}
		d.Registry.AddTag(name, nil)
		key = name
	case "users":
		key = decimal(w.Server.AddUser(name).ID)
	case "runners":
		key = decimal(d.Project.AddRunner(nil).ID)
	case "emails":
		key = fmt.Sprint(w.Server.Root().AddEmail(name + "@example.test").Get("id"))
	case "audit_events":
		key = fmt.Sprint(w.addAuditEvent(path).Get("id"))
	case "secure_files":
		key = fmt.Sprint(d.Project.AddSecureFile(name, []byte(name), nil).Get("id"))
	case "repositories":
		key = decimal(d.Project.AddRegistryRepository(name).ID)
	default:
		return
	}
	w.change(func() { w.rows = append(w.rows, Row{w.Now(), list, false, key}) })
}

func (w *World) addAuditEvent(path string) *forgetest.Document {
	switch {
	case strings.Contains(path, "/projects/"):
		return w.Data.Project.AddAuditEvent(nil)
	case strings.Contains(path, "/groups/"):
		return w.Data.Group.AddAuditEvent(nil)
	}
	return w.Server.AddAuditEvent(nil)
}

// remove takes the row at an index out of the list that a request reads: of those that were there
// at the start, oldest first. Lists without an endpoint that deletes keep theirs.
func (w *World) remove(p *passage, index int) {
	list := lastPart(p.r.URL.EscapedPath())
	keys, path := w.deletable(list)
	gone := map[string]bool{}
	for _, row := range w.Rows() {
		gone[row.List+row.Key] = gone[row.List+row.Key] || row.Delete
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return gone[list+key] })
	if len(keys) == 0 {
		return
	}
	key := keys[min(max(0, index), len(keys)-1)]
	if w.ask(p.next, http.MethodDelete, path+url.PathEscape(key)) < 300 {
		w.change(func() { w.rows = append(w.rows, Row{w.Now(), list, true, key}) })
	}
}

// deletable gives the keys of a list's rows, and the path that deletes one.
func (w *World) deletable(list string) (keys []string, path string) {
	d := &w.Data
	project := fmt.Sprintf("/api/v4/projects/%d", d.Project.ID)
	switch list {
	case "tags":
		if d.Registry != nil {
			return d.Registry.Tags(), fmt.Sprintf("%s/registry/repositories/%d/tags/", project, d.Registry.ID)
		}
	case "emails":
		return slices.Clone(d.Emails), "/api/v4/user/emails/"
	case "secure_files":
		for _, id := range d.SecureFileIDs {
			keys = append(keys, decimal(id))
		}
		return keys, project + "/secure_files/"
	}
	return nil, ""
}

// ask makes a call to the server below the front, as the administrator. It is not on the wire.
func (w *World) ask(server http.Handler, method, path string) (status int) {
	r := httptest.NewRequestWithContext(context.Background(), method, path, http.NoBody)
	r.Header.Set("PRIVATE-TOKEN", w.Server.Token)
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, r)
	return answer.Code
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// lastPart is the name of a list, of which "/runners/all" is one of runners.
func lastPart(path string) string {
	path = strings.TrimSuffix(path, "/all")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// closeAtEnd closes a connection when a context ends; what it returns ends the watch.
func closeAtEnd(ctx context.Context, c io.Closer) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = c.Close() })
}
