// Package forge is the typed Go client for the REST API v4 of a source-hosting and CI/CD platform.
//
// A [Client] has a field for each service. Every method takes a context first, then what identifies the thing, then its
// options (nil where nothing is required), then request options:
//
//	client, err := forge.NewClient("https://forge.example.com", forge.WithToken(token))
//	issue, err := client.Issues.Subscribe(ctx, forge.Path("group/app"), 5)
//
// # Lists
//
// A list is an iterator over all pages. Ranging a second time starts over, and leaving early leaves nothing behind:
//
//	for issue, err := range client.Issues.List(ctx, &forge.ListIssuesOptions{Scope: forge.ScopeAll}) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(issue.References.Full, issue.Title)
//	}
//
// [Collect] makes a slice of it, [Ahead] fetches pages before they are needed, and [Into] with [StartAt] resumes a list
// after a crash without losing a row.
//
// # Errors
//
// Every failed call is an [*Error] or, when it was refused before anything was sent, a [*ValidationError]. Use errors.Is with the
// sentinels ([ErrNotFound], [ErrForbidden], ...) and errors.As for the details. A documented no-op (304) is an error that
// [Unchanged] recognises.
//
// # Writing
//
// What is zero or nil in options is not sent; a field whose zero has a meaning is a pointer, a filter or a [Nullable]:
//
//	_, err := client.Issues.AddSpentTime(ctx, project, 5, &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)})
//
// Calls are repeated only where that cannot change the outcome, which follows from the endpoint ([Routes] has the class of each). A
// write that failed in a way that leaves its outcome open says so in Error.MaybeApplied: look before you repeat it. [DryRun] shows a request
// without sending it.
//
// # Files
//
// A [Download] is a stream; Download.SaveTo writes the whole file or none. [MaxBytes] caps it, [Checksum] compares it, [Progress] reports. Uploads
// take a [File]: [FileAt], [FileBytes] or [FileReader].
//
// # Credentials
//
// [WithToken], [WithJobToken], [WithOAuth] or [WithTokenSource]; [NewClientFromEnv] for scripts and CI jobs. A credential goes to the
// client's own origin and nowhere else. Client.With derives a client with another one; [Sudo] acts as another user.
//
// # GitLab servers
//
// The contract has neutral words where a product has its own. For a GitLab server add [WithVocabulary] with [GitLab]; it matters for settings,
// integrations, and the columns of placeholder files.
//
// # Observability
//
// [WithLogger] logs, [WithOnAttempt] tells of each attempt, Client.Stats counts, and [RouteFromContext] names spans in a tracing transport.
//
// # Testing
//
// Package forgetest is a server with the whole contract, in memory: a test starts its own in about a millisecond.
//
// # The contract
//
// "Document 2 §4.1" in the comments is a section of the documented REST API v4, in three documents from which this package was written;
// testdata/spec has it as data. [Client.Do] and [ListAs] reach what it does not have, with every rule above.
package forge
