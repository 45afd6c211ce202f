package forgetest

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Placeholder represents a user of another platform whose contributions were imported.
type Placeholder struct {
	SourceHost string // "https://old.example.com"
	ImportType string // "bitbucket"
	SourceID   string // the id of the user on that host
	SourceName string // the display name on that host
	SourceUser string // the username on that host

	// User is the new owner of the contributions; nil while the reassignment is pending.
	User *User
}

func placeholderRoutes() []route {
	return []route{
		{name: "GET /groups/:id/placeholder_reassignments", role: Owner, handle: getPlaceholders},
		{name: "POST /groups/:id/placeholder_reassignments", role: Owner, handle: submitPlaceholders},
	}
}

// AddPlaceholder adds a user of an import whose contributions are not yet reassigned.
func (g *Group) AddPlaceholder(p Placeholder) {
	g.srv.edit()
	defer g.srv.mu.Unlock()
	g.placeholders = append(g.placeholders, &p)
}

// Placeholders returns the placeholders of the group, reassigned ones included.
func (g *Group) Placeholders() []Placeholder {
	g.srv.edit()
	defer g.srv.mu.Unlock()
	list := make([]Placeholder, len(g.placeholders))
	for i, p := range g.placeholders {
		list[i] = *p
	}
	return list
}

// placeholderColumns returns the CSV header.
func (s *Server) placeholderColumns() []string {
	var columns []string
	for _, f := range catalogue().shapes["PlaceholderReassignmentRow"].fields {
		name := f.Name
		if rest, found := strings.CutPrefix(name, "Platform "); found && !s.neutral {
			name = "GitLab " + rest
		}
		columns = append(columns, name)
	}
	return columns
}

func (p *Placeholder) row() []string {
	return []string{p.SourceHost, p.ImportType, p.SourceID, p.SourceName, p.SourceUser, "", ""}
}

// getPlaceholders returns the pending reassignments as CSV.
func getPlaceholders(c *call) response {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(c.server.placeholderColumns())
	for _, p := range c.group.placeholders {
		if p.User == nil {
			_ = w.Write(p.row())
		}
	}
	w.Flush()
	a := response{status: http.StatusOK, body: b.Bytes()}
	a.set("Content-Type", "text/csv; charset=utf-8")
	a.set("Content-Disposition", fmt.Sprintf(`attachment; filename="placeholder_reassignments_for_group_%d.csv"`, c.group.ID))
	return a
}

// submitPlaceholders receives the completed file and reassigns in the background. Rows that name an
// unknown user stay pending.
func submitPlaceholders(c *call) response {
	file, found := c.files["file"]
	if !found {
		return rejected(http.StatusBadRequest, "file is invalid")
	}
	if c.server.release.has(newest) && !strings.HasSuffix(file.name, ".csv") {
		return failure(http.StatusUnprocessableEntity, "You must upload a CSV file with a .csv file extension.")
	}
	rows, err := csv.NewReader(bytes.NewReader(file.data)).ReadAll()
	if err != nil || len(rows) == 0 || !slices.Equal(rows[0], c.server.placeholderColumns()) {
		return failure(http.StatusBadRequest, "400 Bad request - The provided CSV was not correctly formatted.")
	}
	group := c.group
	c.server.schedule(func() {
		for _, row := range rows[1:] {
			group.reassign(row)
		}
	})
	return created(NewDocument("Message").Set("message", "The file is being processed and you will receive an email when completed."))
}

// reassign assigns the contributions of a placeholder to the user that the row names by username or
// public e-mail.
func (g *Group) reassign(row []string) {
	for _, p := range g.placeholders {
		if p.User != nil || !slices.Equal(p.row()[:3], row[:3]) {
			continue
		}
		p.User = g.srv.store.userByName(row[5])
		if i := slices.IndexFunc(g.srv.store.users, func(u *User) bool { return row[6] != "" && u.doc.text("public_email") == row[6] }); p.User == nil && i >= 0 {
			p.User = g.srv.store.users[i]
		}
	}
}
