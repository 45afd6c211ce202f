// Package forge is a typed Go client for the REST API v4 that GitLab serves.
//
// A [Client] has a field for each service. Every method takes a context, the identifiers of the
// resource, its options (nil if none are required), and request options:
//
//	client, err := forge.NewClient("https://forge.example.com", forge.WithToken(token))
//	issue, err := client.Issues.Subscribe(ctx, forge.Path("group/app"), 5)
//
// # Services
//
//   - Issues and merge requests: [IssuesService], [MergeRequestsService] and
//     [ApprovalSettingsService].
//   - Code: [RepositoriesService] reads trees, files, archives, comparisons and changelogs.
//   - Container images: [RegistryService], and [RegistryNativeService] for calls of the registry
//     itself.
//   - CI/CD: [RunnersService], [ResourceGroupsService], [SecureFilesService].
//   - People and groups: [UsersService], [EmailsService], [NamespacesService],
//     [PlaceholderReassignmentsService].
//   - Administration: [SettingsService], [IntegrationsService], [AuditEventsService].
//
// [Routes] lists all endpoints, and docs/endpoints.md the method of each.
//
// # Lists
//
// A list is an iterator over all pages. Each range starts at the first page, and leaving the loop
// early leaks nothing:
//
//	opts := &forge.ListIssuesOptions{Scope: forge.ScopeAll}
//	for issue, err := range client.Issues.List(ctx, opts) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(issue.References.Full, issue.Title)
//	}
//
// [Collect] returns a slice, [Ahead] fetches pages before they are needed, and [Into] with
// [StartAt] resumes a list after a crash. A keyset list then loses no row; see [Cursor]. [OnePage]
// with [PerPage] and [Into] reads one page, its [Response], and the total with [Response.Total];
// Query("page", "3") selects its number. [Since] reads only what has changed.
//
// # Values
//
// Values of response types survive encoding/json: zero fields are omitted, and Extra is written.
// Use a response type in your struct as a named field. If it is embedded, encoding/json calls its
// methods, which omit the other fields; [ListAs] and [Client.Do] refuse such a struct:
//
//	type Record struct {
//		Issue   forge.Issue
//		Fetched time.Time
//	}
//
// The rules of the JSON of a value:
//
//   - null, absent and zero are the same. A pointer to zero, an empty slice and an empty map are
//     written.
//   - Extra has the unknown fields of the object itself, and the values whose type does not fit
//     their field. Such a value is written, unless a program sets the field. Nested objects have
//     their own Extra.
//   - json.Unmarshal replaces the whole value. null changes nothing.
//   - The names are GitLab's, with every vocabulary. json.Unmarshal knows no vocabulary: decode the
//     bytes of a server with neutral words with a client.
//   - A label that has only a name is a string. Timestamps, and numbers that a server writes as
//     text, have their usual form.
//   - A loaded value equals the stored one. To compare two values, compare what json.Marshal
//     returns, which has the fields and Extra in a fixed order. reflect.DeepEqual also sees the
//     zone of a time and, in Extra, white space and the escapes of json.Encoder.
//   - ApplicationSettings writes what it was read from, with false and 0, and the edits. A loaded
//     value is read from that: its Diff is empty, and DiffSettings compares it with another one.
//   - A RegistryToken is written as "[redacted]". Store its field Token.
//   - gob has no form for ApplicationSettings and loses pointers to zero. Use JSON.
//
// # Errors
//
// Every failed call returns an [*Error] or, if it was rejected before anything was sent, a
// [*ValidationError]. Use errors.Is with the sentinels ([ErrNotFound], [ErrForbidden], ...) and
// errors.As for the details. The error of a 304 is [ErrNotModified]: nothing was to change, or a
// conditional request (If-None-Match, with the ETag of an earlier response; see [Header]) found
// nothing new.
//
// # Writing
//
// Options that are zero or nil are not sent. A field whose zero value has a meaning is a pointer
// (new(false)), a filter or a [Nullable] (Value(""), Null):
//
//	opts := &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)}
//	_, err := client.Issues.AddSpentTime(ctx, project, 5, opts)
//
// Calls are retried only if a retry cannot change the outcome. This depends on the endpoint:
// [Routes] lists the class of each. If the outcome of a failed write is unknown, Error.MaybeApplied
// reports it. Then send an idempotent write again; before you send another write again, check
// whether it took effect. [DryRun] shows a request without sending it.
//
// # Files
//
// A [Download] is a stream; Download.SaveTo writes the whole file or none. [MaxBytes] limits its
// size, [Checksum] verifies it, and [Progress] reports the bytes done. Uploads take a [File]:
// [FileAt], [FileBytes] or [FileReader].
//
// # Credentials
//
// Use [WithToken], [WithJobToken], [WithOAuth] or [WithTokenSource], and [NewClientFromEnv] for
// scripts and CI jobs. A credential is sent to the client's own origin only. Client.With derives a
// client with another credential. The request option [Sudo] makes one call as another user.
//
// # Names
//
// The names are GitLab's. Where the documents have a neutral word, the comment names it, and a
// client with [WithVocabulary] speaks it.
//
// # Observability
//
// [WithLogger] logs calls, [WithOnAttempt] reports each attempt, Client.Stats counts them, and
// [RouteFromContext] names spans in a tracing transport.
//
// # Testing
//
// Package forgetest is an in-memory server for the whole contract: a test starts its own in about a
// millisecond.
//
// # The contract
//
// "The contract" is the documented REST API v4, in the three documents from which this package was
// written; internal/catalogue has them in machine-readable form. The comments of services and
// methods link GitLab's public page, which describes the newest release.
//
// Notes such as "Premium and Ultimate", "Administrators" and "self-managed and dedicated" name the
// tiers, roles and offerings that a call, a parameter or a field is limited to. "Since 17.1" names
// its first release. "Not part of the contract" marks what only deployed servers have.
//
// [Client.Do], [ListAs] and [Client.Open] call any other endpoint, with the same rules. Body takes
// your own struct, or an options type of this package:
//
//	call := forge.Call{Method: "PUT", Route: "/projects/:id/integrations/discord",
//		Args: []forge.Arg{forge.Path("group/app")}, Body: &forge.DiscordOptions{Webhook: webhook}}
//	err := client.Do(ctx, call, nil)
package forge
