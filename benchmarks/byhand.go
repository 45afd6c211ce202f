package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"
)

// byHand is code without a client library: net/http and encoding/json.
type byHand struct {
	base string
	http *http.Client
}

type handUser struct {
	ID         int64  `json:"id"`
	Username   string `json:"username"`
	Name       string `json:"name"`
	State      string `json:"state"`
	AvatarURL  string `json:"avatar_url"`
	AvatarPath string `json:"avatar_path"`
	WebURL     string `json:"web_url"`
	Locked     bool   `json:"locked"`
}

type handMilestone struct {
	ID          int64     `json:"id"`
	IID         int64     `json:"iid"`
	ProjectID   int64     `json:"project_id"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	State       string    `json:"state"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	DueDate     string    `json:"due_date"`
	StartDate   string    `json:"start_date"`
	Expired     bool      `json:"expired"`
	WebURL      string    `json:"web_url"`
}

type handIteration struct {
	ID        int64     `json:"id"`
	IID       int64     `json:"iid"`
	Sequence  int       `json:"sequence"`
	GroupID   int64     `json:"group_id"`
	Title     string    `json:"title"`
	State     int       `json:"state"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	StartDate string    `json:"start_date"`
	DueDate   string    `json:"due_date"`
	WebURL    string    `json:"web_url"`
}

type handIssue struct {
	ID                 int64          `json:"id"`
	IID                int64          `json:"iid"`
	ProjectID          int64          `json:"project_id"`
	Title              string         `json:"title"`
	Description        string         `json:"description"`
	State              string         `json:"state"`
	CreatedAt          time.Time      `json:"created_at"`
	UpdatedAt          time.Time      `json:"updated_at"`
	ClosedAt           time.Time      `json:"closed_at"`
	ClosedBy           *handUser      `json:"closed_by"`
	Author             handUser       `json:"author"`
	Assignees          []handUser     `json:"assignees"`
	Assignee           *handUser      `json:"assignee"`
	Milestone          *handMilestone `json:"milestone"`
	Labels             []string       `json:"labels"`
	Type               string         `json:"type"`
	IssueType          string         `json:"issue_type"`
	Severity           string         `json:"severity"`
	MovedToID          *int64         `json:"moved_to_id"`
	Upvotes            int            `json:"upvotes"`
	Downvotes          int            `json:"downvotes"`
	MergeRequestsCount int            `json:"merge_requests_count"`
	UserNotesCount     int            `json:"user_notes_count"`
	DueDate            string         `json:"due_date"`
	Imported           bool           `json:"imported"`
	ImportedFrom       string         `json:"imported_from"`
	WebURL             string         `json:"web_url"`
	References         struct {
		Short    string `json:"short"`
		Relative string `json:"relative"`
		Full     string `json:"full"`
	} `json:"references"`
	TimeStats struct {
		TimeEstimate        int    `json:"time_estimate"`
		TotalTimeSpent      int    `json:"total_time_spent"`
		HumanTimeEstimate   string `json:"human_time_estimate"`
		HumanTotalTimeSpent string `json:"human_total_time_spent"`
	} `json:"time_stats"`
	HasTasks             bool   `json:"has_tasks"`
	TaskStatus           string `json:"task_status"`
	TaskCompletionStatus struct {
		Count          int `json:"count"`
		CompletedCount int `json:"completed_count"`
	} `json:"task_completion_status"`
	Confidential        bool              `json:"confidential"`
	DiscussionLocked    bool              `json:"discussion_locked"`
	Subscribed          bool              `json:"subscribed"`
	Links               map[string]string `json:"_links"`
	Weight              *int              `json:"weight"`
	EpicIID             *int64            `json:"epic_iid"`
	Iteration           *handIteration    `json:"iteration"`
	HealthStatus        string            `json:"health_status"`
	BlockingIssuesCount int               `json:"blocking_issues_count"`
	ServiceDeskReplyTo  string            `json:"service_desk_reply_to"`
}

type handTag struct {
	Name          string    `json:"name"`
	Path          string    `json:"path"`
	Location      string    `json:"location"`
	Revision      string    `json:"revision"`
	ShortRevision string    `json:"short_revision"`
	Digest        string    `json:"digest"`
	CreatedAt     time.Time `json:"created_at"`
	TotalSize     int64     `json:"total_size"`
}

type handEvent struct {
	ID         int64  `json:"id"`
	AuthorID   int64  `json:"author_id"`
	EntityID   int64  `json:"entity_id"`
	EntityType string `json:"entity_type"`
	Details    struct {
		CustomMessage string `json:"custom_message"`
		Add           string `json:"add"`
		AuthorName    string `json:"author_name"`
		AuthorEmail   string `json:"author_email"`
		AuthorClass   string `json:"author_class"`
		TargetID      int64  `json:"target_id"`
		TargetType    string `json:"target_type"`
		TargetDetails string `json:"target_details"`
		IPAddress     string `json:"ip_address"`
		EntityPath    string `json:"entity_path"`
	} `json:"details"`
	CreatedAt     time.Time `json:"created_at"`
	IPAddress     string    `json:"ip_address"`
	AuthorName    string    `json:"author_name"`
	EntityPath    string    `json:"entity_path"`
	TargetDetails string    `json:"target_details"`
	TargetType    string    `json:"target_type"`
	TargetID      int64     `json:"target_id"`
	EventType     string    `json:"event_type"`
	EventName     string    `json:"event_name"`
}

// send sends a request and passes its response to read.
func (c *byHand) send(ctx context.Context, method, address string, body io.Reader, contentType string, read func(*http.Response) error) error {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	req.Header.Set("Private-Token", token)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	answer, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", address, answer.Status)
	}
	return read(answer)
}

// decode sends a request and decodes the JSON of the response into out.
func (c *byHand) decode(ctx context.Context, method, address string, body io.Reader, contentType string, out any) error {
	return c.send(ctx, method, address, body, contentType, func(answer *http.Response) error { return json.NewDecoder(answer.Body).Decode(out) })
}

func (c *byHand) issue(ctx context.Context, d *digest) error {
	var i handIssue
	err := c.decode(ctx, http.MethodPost, c.base+"/api/v4/projects/group%2Fapp/issues/318/subscribe", http.NoBody, "", &i)
	d.issue(i.ID, i.Title, i.Description, i.State, i.CreatedAt, i.Author.Username, len(i.Labels))
	return err
}

func (c *byHand) tag(ctx context.Context, d *digest) error {
	var t handTag
	err := c.decode(ctx, http.MethodGet, c.base+"/api/v4/projects/group%2Fapp/registry/repositories/7/tags/release%2F1.0", http.NoBody, "", &t)
	d.add(t.Name, t.Digest, t.TotalSize, t.CreatedAt.Unix())
	return err
}

// pages reads all pages of a list by following its links.
func (c *byHand) pages(ctx context.Context, address string, read func(*http.Response) error) error {
	for address != "" {
		next := ""
		err := c.send(ctx, http.MethodGet, address, http.NoBody, "", func(answer *http.Response) error {
			next = link(answer.Header.Get("Link"))
			return read(answer)
		})
		if err != nil {
			return err
		}
		address = next
	}
	return nil
}

// link returns the address in a Link header that has only one link.
func link(header string) string {
	address, _, _ := strings.Cut(strings.TrimPrefix(header, "<"), ">")
	return address
}

func (c *byHand) issues(ctx context.Context, d *digest) error {
	return c.pages(ctx, c.base+"/api/v4/issues?scope=all&per_page=100", func(answer *http.Response) error {
		var page []*handIssue
		err := json.NewDecoder(answer.Body).Decode(&page)
		for _, i := range page {
			d.issue(i.ID, i.Title, i.Description, i.State, i.CreatedAt, i.Author.Username, len(i.Labels))
		}
		return err
	})
}

func (c *byHand) events(ctx context.Context, d *digest) error {
	return c.pages(ctx, c.base+"/api/v4/audit_events?pagination=keyset&order_by=id&sort=desc&per_page=100", func(answer *http.Response) error {
		var page []*handEvent
		err := json.NewDecoder(answer.Body).Decode(&page)
		for _, e := range page {
			d.add(e.Details.AuthorEmail, e.EventName, e.ID, e.CreatedAt.Unix())
		}
		return err
	})
}

// discard reads the pages without decoding them: the cost of the transport alone.
func (c *byHand) discard(ctx context.Context, d *digest) error {
	return c.pages(ctx, c.base+"/api/v4/issues?scope=all&per_page=100", func(answer *http.Response) error {
		_, err := io.Copy(io.Discard, answer.Body)
		return err
	})
}

func (c *byHand) archive(ctx context.Context, d *digest) error {
	return c.send(ctx, http.MethodGet, c.base+"/api/v4/projects/1/repository/archive", http.NoBody, "", func(answer *http.Response) error {
		n, err := io.Copy(io.Discard, answer.Body)
		d.add("", "", n, 0)
		return err
	})
}

// upload builds the whole multipart body in memory first, as examples of mime/multipart do.
func (c *byHand) upload(ctx context.Context, d *digest) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("name", "archive"); err != nil {
		return err
	}
	part, err := form.CreateFormFile("file", "archive")
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, content()); err != nil {
		return err
	}
	if err := form.Close(); err != nil {
		return err
	}
	var file struct{ ID int64 }
	err = c.decode(ctx, http.MethodPost, c.base+"/api/v4/projects/1/secure_files", &body, form.FormDataContentType(), &file)
	d.add("", "", file.ID, 0)
	return err
}
