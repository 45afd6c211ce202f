package forge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// server starts the embedded server with one small project.
func server() (*forgetest.Server, *forge.Client) {
	srv, err := forgetest.Start()
	if err != nil {
		log.Fatal(err)
	}
	app := srv.AddProject("group/app")
	app.AddFiles(map[string]string{"README.md": "# App\n", "cmd/app/main.go": "package main\n"})
	app.AddIssues(3, func(i int, issue *forgetest.Document) {
		issue.Set("title", fmt.Sprintf("Bug %d", i+1)).Set("labels", []string{"bug"})
	})
	return srv, srv.Client()
}

func Example() {
	srv, client := server()
	defer srv.Close()
	ctx := context.Background()

	for issue, err := range client.Issues.List(ctx, &forge.ListIssuesOptions{
		Scope:  forge.ScopeAll,
		Labels: forge.Labels("bug"),
		Sort:   forge.SortAsc,
	}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(issue.References.Full, issue.Title)
	}
	// Output:
	// group/app#1 Bug 1
	// group/app#2 Bug 2
	// group/app#3 Bug 3
}

func ExampleIssuesService_CreateTodo() {
	srv, client := server()
	defer srv.Close()
	ctx := context.Background()

	for range 2 {
		_, err := client.Issues.CreateTodo(ctx, forge.Path("group/app"), 1)
		switch {
		case errors.Is(err, forge.ErrNotModified):
			fmt.Println("it is on the list already")
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println("put on the list")
		}
	}
	// Output:
	// put on the list
	// it is on the list already
}

func ExampleError() {
	srv, client := server()
	defer srv.Close()

	_, err := client.Issues.GetTimeStats(context.Background(), forge.Path("group/app"), 99)
	var failed *forge.Error
	if errors.As(err, &failed) && errors.Is(err, forge.ErrNotFound) {
		fmt.Println(failed.Status, failed.Message)
	}
	// Output: 404 404 Issue Not Found
}

func ExampleStartAt() {
	srv, client := server()
	defer srv.Close()
	ctx := context.Background()
	options := &forge.ListIssuesOptions{Scope: forge.ScopeAll, Sort: forge.SortAsc}

	var page forge.Response
	first, err := forge.Collect(client.Issues.List(ctx, options, forge.PerPage(2), forge.OnePage(), forge.Into(&page)))
	if err != nil {
		log.Fatal(err)
	}
	saved := page.Cursor // store it; another process can continue from here
	rest, err := forge.Collect(client.Issues.List(ctx, options, forge.StartAt(saved), forge.Into(&page)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(first), len(rest), page.Cursor.Done())
	// Output: 2 1 true
}

func ExampleRepositoriesService_ListTree() {
	srv, client := server()
	defer srv.Close()

	for entry, err := range client.Repositories.ListTree(context.Background(), forge.Path("group/app"), &forge.ListTreeOptions{Recursive: new(true)}) {
		if err != nil {
			log.Fatal(err)
		}
		if entry.Type == forge.TreeEntryTypeBlob {
			fmt.Println(entry.Path)
		}
	}
	// Output:
	// README.md
	// cmd/app/main.go
}

func ExampleNamespacesService_Exists() {
	srv, client := server()
	defer srv.Close()

	answer, err := client.Namespaces.Exists(context.Background(), "group", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Exists, answer.Suggests)
	// Output: true [group1]
}

// A program adds its own fields next to a response type that has a name. encoding/json writes the
// fields that the server sent, unknown ones included.
func Example_store() {
	type record struct {
		Issue   forge.Issue `json:"issue"` // not embedded: its MarshalJSON would omit Fetched
		Fetched time.Time   `json:"fetched"`
	}
	var read record
	stored := `{"issue":{"iid":7,"title":"Bug","labels":["bug"],"new_field":[1]},"fetched":"2026-03-01T09:30:00Z"}`
	if err := json.Unmarshal([]byte(stored), &read); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d %s %s\n", read.Issue.IID, read.Issue.Labels, read.Issue.Extra["new_field"])
	text, err := json.Marshal(read)
	fmt.Println(string(text) == stored, err)
	// Output:
	// 7 [bug] [1]
	// true <nil>
}
