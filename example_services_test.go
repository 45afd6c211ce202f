package forge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"strings"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// start is an embedded server with an empty project.
func start() (*forgetest.Server, *forgetest.Project, *forge.Client) {
	srv, err := forgetest.Start()
	if err != nil {
		log.Fatal(err)
	}
	return srv, srv.AddProject("group/app"), srv.Client()
}

func ExampleRegistryService_PreviewDeleteTags() {
	srv, app, client := start()
	defer srv.Close()
	app.AddRegistryRepository("web").AddTag("v1", nil).AddTag("v2-dev", nil)
	ctx := context.Background()

	repositories, err := forge.Collect(client.Registry.ListForProject(ctx, forge.Path("group/app"), nil))
	if err != nil {
		log.Fatal(err)
	}
	options := &forge.DeleteTagsOptions{NameRegexDelete: `.*-dev`}
	preview, err := client.Registry.PreviewDeleteTags(ctx, forge.Path("group/app"), repositories[0].ID, options)
	if err != nil {
		log.Fatal(err)
	}
	for _, tag := range preview.Delete {
		fmt.Println("would delete", tag.Name)
	}
	err = client.Registry.DeleteTags(ctx, forge.Path("group/app"), repositories[0].ID, options) // finishes in the background
	fmt.Println(err)
	// Output:
	// would delete v2-dev
	// <nil>
}

func ExampleRegistryNativeService_ListCatalog() {
	srv, app, _ := start()
	defer srv.Close()
	app.AddRegistryRepository("web").AddTag("v1", nil)

	client, err := forge.NewClient(srv.URL, forge.WithToken(srv.Token),
		forge.WithRegistry(srv.RegistryURL, srv.RegistryAuthURL), forge.WithRegistryCredentials("root", srv.Token))
	if err != nil {
		log.Fatal(err)
	}
	for repository, err := range client.RegistryNative.ListCatalog(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(repository)
	}
	// Output: group/app/web
}

func ExampleResourceGroupsService_Update() {
	srv, app, client := start()
	defer srv.Close()
	app.AddResourceGroup("production")

	group, err := client.ResourceGroups.Update(context.Background(), forge.Path("group/app"), "production",
		&forge.UpdateResourceGroupOptions{ProcessMode: forge.ProcessModeOldestFirst})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(group.Key, group.ProcessMode)
	// Output: production oldest_first
}

func ExampleSecureFilesService_Upload() {
	srv, _, client := start()
	defer srv.Close()
	ctx := context.Background()

	content := forge.FileBytes([]byte("secret key")) // or forge.FileAt(path), which streams
	file, err := client.SecureFiles.Upload(ctx, forge.Path("group/app"), &forge.UploadSecureFileOptions{Name: "key.pem", File: content})
	if err != nil {
		log.Fatal(err)
	}
	download, err := client.SecureFiles.Download(ctx, forge.Path("group/app"), file)
	if err != nil {
		log.Fatal(err)
	}
	defer download.Close()
	text, err := io.ReadAll(download)
	fmt.Println(file.Name, string(text), err)
	// Output: key.pem secret key <nil>
}

func ExampleApprovalSettingsService_UpdateForProject() {
	srv, _, client := start()
	defer srv.Close()

	settings, err := client.ApprovalSettings.UpdateForProject(context.Background(), forge.Path("group/app"),
		&forge.UpdateApprovalSettingsOptions{AllowAuthorApproval: new(false)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settings.AllowAuthorApproval.Value)
	// Output: false
}

func ExampleAuditEventsService_List() {
	srv, _, client := start()
	defer srv.Close()
	srv.AddGeneratedAuditEvents(250)

	n := 0
	for _, err := range client.AuditEvents.List(context.Background(), nil, forge.Ahead(1)) {
		if err != nil {
			log.Fatal(err)
		}
		n++
	}
	fmt.Println(n, "events")
	// Output: 250 events
}

func ExampleIssuesService_AddSpentTime() {
	srv, app, client := start()
	defer srv.Close()
	app.AddIssues(1, nil)

	spent, err := forge.ParseWorkDuration("1d 2h")
	if err != nil {
		log.Fatal(err)
	}
	stats, err := client.Issues.AddSpentTime(context.Background(), forge.Path("group/app"), 1,
		&forge.AddSpentTimeOptions{Duration: spent, Summary: "the long way round"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.TotalTimeSpent, stats.HumanTotalTimeSpent)
	// Output: 36000 1d 2h
}

func ExampleMergeRequestsService_List() {
	srv, app, client := start()
	defer srv.Close()
	app.AddMergeRequests(2, func(i int, mr *forgetest.Document) {
		mr.Set("title", fmt.Sprintf("Change %d", i+1)).Set("draft", i == 0)
	})

	for mr, err := range client.MergeRequests.List(context.Background(), &forge.ListMergeRequestsOptions{
		Scope: forge.ScopeAll,
		State: forge.MergeRequestStateOpened,
		WIP:   forge.No,
	}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(mr.References.Full, mr.Title)
	}
	// Output: group/app!2 Change 2
}

func ExampleUsersService_List() {
	srv, _, client := start()
	defer srv.Close()
	srv.AddUser("ada")

	for user, err := range client.Users.List(context.Background(), &forge.ListUsersOptions{Username: "ada"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(user.Username, user.State)
	}
	// Output: ada active
}

func ExampleEmailsService_Create() {
	srv, _, client := start()
	defer srv.Close()
	ctx := context.Background()

	for range 2 {
		email, err := client.Emails.Create(ctx, &forge.CreateEmailOptions{Email: "work@example.com"})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(email.Email)
	}
	// Output:
	// work@example.com
	// forge: POST /user/emails: 400 Bad Request: email has already been taken (request id forgetest-00000002)
}

func ExampleRunnersService_ListAll() {
	srv, _, client := start()
	defer srv.Close()
	srv.AddRunner(func(runner *forgetest.Document) {
		runner.Set("tag_list", []string{"linux"}).Set("description", "builder")
	})

	for runner, err := range client.Runners.ListAll(context.Background(), &forge.ListRunnersOptions{TagList: []string{"linux"}}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(runner.Description, runner.RunnerType)
	}
	// Output: builder instance_type
}

func ExamplePlaceholderReassignmentsService_WriteCSV() {
	srv, _, client := start()
	defer srv.Close()
	srv.AddGroup("imported").AddPlaceholder(forgetest.Placeholder{SourceHost: "https://old.example.com", ImportType: "bitbucket", SourceID: "7", SourceUser: "ada"})
	ctx := context.Background()

	var file strings.Builder
	rows := client.PlaceholderReassignments.List(ctx, forge.Path("imported"))
	assigned := func(yield func(*forge.PlaceholderReassignment, error) bool) {
		for row, err := range rows {
			if err == nil {
				row.Username = row.SourceUsername
			}
			if !yield(row, err) {
				return
			}
		}
	}
	if err := client.PlaceholderReassignments.WriteCSV(&file, assigned); err != nil {
		log.Fatal(err)
	}
	answer, err := client.PlaceholderReassignments.Upload(ctx, forge.Path("imported"), forge.FileBytes([]byte(file.String())))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Message)
	// Output: The file is being processed and you will receive an email when completed.
}

func ExampleSettingsService_Apply() {
	srv, _, client := start()
	defer srv.Close()
	ctx := context.Background()

	settings, err := client.Settings.Get(ctx)
	if err != nil {
		log.Fatal(err)
	}
	settings.TerminalMaxSessionTime = 3600 // seconds
	report, err := client.Settings.Apply(ctx, settings.Diff())
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range report.NotApplied {
		fmt.Println(d.Name, d.Reason)
	}
	fmt.Println(report.Settings.TerminalMaxSessionTime)
	// Output: 3600
}

func ExampleApplicationSettings_Merge() {
	srv, _, client := start()
	defer srv.Close()

	settings, err := client.Settings.Get(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	if err := settings.Merge([]byte(`{"signup_enabled": false, "domain_allowlist": ["example.com"], "session_expire_delay": 10080}`)); err != nil {
		log.Fatal(err)
	}
	for _, d := range settings.Diff().Changes {
		fmt.Printf("%s: %s, should be %s\n", d.Name, d.Got, d.Want)
	}
	err = settings.Merge([]byte("{\n\"signup_enabed\": false}"))
	fmt.Println(err)
	// Output:
	// domain_allowlist: [], should be ["example.com"]
	// signup_enabled: true, should be false
	// forge: Merge (signup_enabed): line 2: neither the server's settings nor this package have it: check the spelling, or set it in the map Extra, which takes any name; nothing was sent
}

func ExampleDiffSettings() {
	var staging, production forge.ApplicationSettings
	if err := json.Unmarshal([]byte(`{"signup_enabled": true, "max_import_size": 50, "allow_all_integrations": true}`), &staging); err != nil {
		log.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"signup_enabled": false, "max_import_size": 50, "terms": "Be kind."}`), &production); err != nil {
		log.Fatal(err)
	}
	diff, err := forge.DiffSettings(&staging, &production)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(diff.Changes, diff.NotSent, diff.OnlyInGot)
	// Output: [signup_enabled] [terms] [allow_all_integrations]
}

func ExampleIntegrationsService_Set() {
	srv, _, client := start()
	defer srv.Close()
	ctx := context.Background()

	err := client.Integrations.Set(ctx, forge.Path("group"), &forge.EmailsOnPushOptions{Recipients: "team@example.com"})
	if err != nil {
		log.Fatal(err)
	}
	for integration, err := range client.Integrations.List(ctx, forge.Path("group")) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(integration.Title, integration.Active)
	}
	// Output: Emails on push true
}

func ExampleWithVocabulary() {
	srv, err := forgetest.Start(forgetest.WithGitLabVocabulary()) // a server with the vocabulary of GitLab
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	ctx := context.Background()

	neutral := srv.Client(forge.WithVocabulary("")) // otherwise the client has the vocabulary of its server
	_, err = neutral.Settings.Get(ctx)
	fmt.Println(err != nil) // its writes would be ignored silently

	settings, err := srv.Client(forge.WithVocabulary(forge.GitLab)).Settings.Get(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settings.DiagramAEnabled)
	// Output:
	// true
	// false
}

func ExampleListAs() {
	srv, app, client := start()
	defer srv.Close()
	app.AddIssues(2, nil)

	type title struct{ Title string } // your own type for a response without a method
	call := forge.Call{Method: "GET", Route: "/issues", Query: url.Values{"scope": {"all"}, "sort": {"asc"}}}
	for issue, err := range forge.ListAs[title](context.Background(), client, call) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(issue.Title)
	}
	// Output:
	// Issue 1
	// Issue 2
}

func ExampleDownload_SaveTo() {
	srv, app, client := start()
	defer srv.Close()
	app.AddFiles(map[string]string{"README.md": "# App\n"})
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)

	archive, err := client.Repositories.Archive(context.Background(), forge.Path("group/app"), &forge.ArchiveOptions{Format: forge.Zip})
	if err != nil {
		log.Fatal(err)
	}
	defer archive.Close()
	err = archive.SaveTo(folder + "/app.zip") // the complete file or none
	files, _ := os.ReadDir(folder)
	fmt.Println(err, files[0].Name())
	// Output: <nil> app.zip
}

func ExampleClient_With() {
	srv, _, client := start()
	defer srv.Close()
	bot := srv.AddUser("bot")

	other, err := client.With(forge.WithToken(bot.AddToken("api")))
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range []*forge.Client{client, other} {
		user, err := c.Users.GetCurrent(context.Background(), nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(user.Username)
	}
	// Output:
	// root
	// bot
}

func ExampleError_maybeApplied() {
	srv, app, client := start()
	defer srv.Close()
	app.AddIssues(1, nil)
	srv.Fail("POST /projects/:id/issues/:issue_iid/add_spent_time", forgetest.DropResponse().Times(1)) // the response is lost

	_, err := client.Issues.AddSpentTime(context.Background(), forge.Path("group/app"), 1, &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)})
	var failed *forge.Error
	if errors.As(err, &failed) && failed.MaybeApplied {
		fmt.Println("sent", failed.Attempts, "time: look before you repeat it")
	}
	// Output: sent 1 time: look before you repeat it
}
