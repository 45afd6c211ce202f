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

// turn applies the faults that change the server and not the exchange.
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

// date returns the server's clock, which may have jumped.
func (w *World) date() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().UTC().Add(w.dateOff)
}

// restart ends all connections to the server of c, and refuses new ones for a time.
func (w *World) restart(c *conn, down time.Duration) {
	if c != nil {
		for _, end := range w.net.restart(c.local.String(), down) {
			w.strike(end)
		}
	}
}

// Row is a row of a list that a fault has added or deleted.
type Row struct {
	At     time.Duration
	List   string // the last part of the list's path: "issues"
	Delete bool
	Key    string // the ID, or the name of a row without an ID
}

// Rows returns the rows that faults have added or deleted, in order.
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

// remove deletes the row at an index from the list that a request reads. It counts the rows that
// were there at the start, oldest first. Lists without an endpoint that deletes are not changed.
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

// deletable returns the keys of a list's rows, and the path that deletes a row.
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

// ask sends a request to the server below the front, as the administrator. It is not on the wire.
func (w *World) ask(server http.Handler, method, path string) (status int) {
	r := httptest.NewRequestWithContext(context.Background(), method, path, http.NoBody)
	r.Header.Set("PRIVATE-TOKEN", w.Server.Token)
	response := httptest.NewRecorder()
	server.ServeHTTP(response, r)
	return response.Code
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// lastPart returns the name of a list. "/runners/all" is a list of runners.
func lastPart(path string) string {
	path = strings.TrimSuffix(path, "/all")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// closeAtEnd closes c when ctx ends. stop cancels that.
func closeAtEnd(ctx context.Context, c io.Closer) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = c.Close() })
}
