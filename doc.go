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
// # Safety
//
// A credential goes to the client's own origin and nowhere else. Calls are repeated only where that cannot change the outcome; a
// write that failed in a way that leaves this open says so in Error.MaybeApplied.
package forge
