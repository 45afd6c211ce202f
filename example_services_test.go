package forge_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"

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
	web := app.AddRegistryRepository("web").AddTag("v1", nil).AddTag("v2-dev", nil)

	options := &forge.DeleteTagsOptions{NameRegexDelete: `.*-dev`} // DeleteTags takes the same
	preview, err := client.Registry.PreviewDeleteTags(context.Background(), forge.Path("group/app"), web.ID, options)
	if err != nil {
		log.Fatal(err)
	}
	for _, tag := range preview.Delete {
		fmt.Println("would delete", tag.Name)
	}
	// Output: would delete v2-dev
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

	var file strings.Builder
	rows := client.PlaceholderReassignments.List(context.Background(), forge.Path("imported"))
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
	fmt.Println(strings.Contains(file.String(), ",ada,ada,")) // Upload takes the file
	// Output: true
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
