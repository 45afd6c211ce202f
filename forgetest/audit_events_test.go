package forgetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sampleAuditEvents is the part of contractServer for audit events.
func sampleAuditEvents(s *Server, app *Project) {
	s.AddAuditEvent(func(d *Document) {
		for _, name := range []string{"custom_message", "add", "change", "from", "to"} {
			d.Set("details."+name, "x")
		}
	})
	s.AddGroup("group").AddAuditEvent(nil)
	app.AddAuditEvent(nil)
}

// auditWorld has one event for each kind of entity, by two authors, a day apart.
func auditWorld(t *testing.T, options ...Option) (*Server, map[string]*User, caller) {
	s := New(t, options...)
	s.SetClock(noon)
	p := s.AddProject("group/app")
	g := s.AddGroup("group")
	users := map[string]*User{}
	for name, role := range map[string]Role{"reporter": Reporter, "developer": Developer, "maintainer": Maintainer, "owner": Owner} {
		users[name] = s.AddUser(name)
		g.AddMember(users[name], role)
	}
	at := func(n int, author *User) func(*Document) {
		return func(d *Document) {
			d.Set("created_at", day(n)).Set("author_id", author.ID).Set("details.custom_message", fmt.Sprintf("event %d", n))
		}
	}
	s.AddAuditEvent(at(1, s.Root()))
	users["developer"].AddAuditEvent(at(2, s.Root()))
	g.AddAuditEvent(at(3, users["developer"]))
	g.AddAuditEvent(at(4, users["owner"]))
	p.AddAuditEvent(at(5, users["developer"]))
	p.AddAuditEvent(at(6, users["maintainer"]))
	s.AddProject("group/other").AddAuditEvent(at(7, s.Root()))
	return s, users, newCaller(t, s)
}

// The models of internal/contractmodel prove the lists. This test has the texts of the refusals.
func TestAuditEventLists(t *testing.T) {
	_, _, c := auditWorld(t)
	const group, project = "/groups/group/audit_events", "/projects/group%2Fapp/audit_events"
	noOrder := `{"error":"order_by and sort do not have a valid value for keyset pagination"}`
	for path, body := range map[string]string{
		"/audit_events?entity_id=1":                                          `{"error":"entity_type is missing"}`,
		"/audit_events?entity_type=Issue":                                    `{"error":"entity_type does not have a valid value"}`,
		"/audit_events?entity_type=Group&entity_id=x":                        `{"error":"entity_id is invalid"}`,
		"/audit_events?created_after=yesterday":                              `{"error":"created_after is invalid"}`,
		"/audit_events?pagination=keyset":                                    noOrder,
		group + "?pagination=keyset&order_by=id&sort=asc":                    noOrder,
		group + "?pagination=keyset&order_by=id&sort=desc&cursor=bm90aGluZw": `{"error":"cursor is invalid"}`,
	} {
		r := c.get(path)
		assert.Equal(t, 400, r.Status, path)
		assert.Equal(t, body, r.Body, path)
	}
}

// The end of a query without created_before is now.
func TestAuditEventLimit(t *testing.T) {
	s := New(t, WithAuditEventLimit(RefuseLongQueries))
	for days, status := range map[int]int{-31: 400, -29: 200} {
		after := s.time().AddDate(0, 0, days).UTC().Format(time.RFC3339)
		assert.Equal(t, status, newCaller(t, s).get("/audit_events?created_after="+after).Status, after)
	}
}

func TestAuditEventAccess(t *testing.T) {
	_, users, c := auditWorld(t)
	for who, statuses := range map[string][]int{ // of an event of the instance, the group and the project
		"reporter": {403, 403, 403}, "developer": {403, 403, 403}, "maintainer": {403, 403, 200}, "owner": {403, 200, 200}, "": {401, 401, 401},
	} {
		as := c.as("")
		if who != "" {
			as = c.as(users[who].Token)
		}
		for i, path := range []string{"/audit_events/1", "/groups/group/audit_events/3", "/projects/1/audit_events/5"} {
			assert.Equal(t, statuses[i], as.get(path).Status, "%s %s", who, path)
		}
	}
	for who, seen := range map[string][2][]any{ // in the lists of the group and the project; others than these see their own events
		"developer": {{3.0}, {5.0}}, "maintainer": {{}, {6.0, 5.0}}, "owner": {{4.0, 3.0}, {6.0, 5.0}},
	} {
		for i, list := range []string{"/groups/group/audit_events", "/projects/1/audit_events"} {
			assert.Equal(t, seen[i], c.as(users[who].Token).get(list).column(t, "id"), "%s %s", who, list)
		}
	}
	for path, status := range map[string]int{ // an administrator
		"/audit_events/6": 200, "/audit_events/8": 404, "/audit_events/0": 404, "/audit_events/x": 400,
		"/groups/group/audit_events/4": 200, "/groups/group/audit_events/5": 404, "/groups/none/audit_events/4": 404,
		"/projects/1/audit_events/6": 200, "/projects/1/audit_events/7": 404, "/projects/1/audit_events/3": 404,
	} {
		assert.Equal(t, status, c.get(path).Status, path)
	}
	for _, platform := range []struct {
		options  []Option
		statuses []int
	}{
		{[]Option{WithTier(Free)}, []int{403, 403, 403}}, {[]Option{WithTier(Premium)}, []int{200, 200, 200}},
		{[]Option{WithOffering(Hosted)}, []int{403, 200, 200}}, {[]Option{WithOffering(Dedicated)}, []int{200, 200, 200}},
	} {
		_, _, c := auditWorld(t, platform.options...)
		for i, path := range []string{"/audit_events/1", "/groups/group/audit_events/3", "/projects/1/audit_events/5"} {
			assert.Equal(t, platform.statuses[i], c.get(path).Status, path)
		}
	}
}

func TestAuditEventShape(t *testing.T) {
	s, users, c := auditWorld(t, WithNeutralNames())
	top := []string{"ip_address", "author_name", "entity_path", "target_details", "target_type", "target_id", "event_type"}
	instance := c.get("/audit_events/1").object(t)
	details := instance["details"].(map[string]any)
	assert.Equal(t, "event 1", details["custom_message"])
	assert.Equal(t, "Service::Audit::InstanceScope", instance["entity_type"])
	assert.Equal(t, instance, c.get("/audit_events?per_page=100").array(t)[6])
	assertShown(t, instance, map[string]any{
		"event_type": "audit_operation", "target_type": "ApplicationSetting", "entity_path": "forge_instance", "entity_id": 1.0, "ip_address": "127.0.0.1",
	})
	for _, name := range top[:6] {
		assert.Equal(t, details[name], instance[name], name)
	}
	for id, want := range map[int]string{2: "User", 3: "Group", 5: "Project"} {
		event := c.get(fmt.Sprint("/audit_events/", id)).object(t)
		assert.Equal(t, want, event["entity_type"])
		assert.Equal(t, want, event["details"].(map[string]any)["target_type"])
		assertShown(t, event, map[string]any{
			"details.author_name": "Root", "details.author_email": "root@example.com", "details.author_class": "User",
			"details.ip_address": "127.0.0.1", "details.entity_path": map[int]string{2: "developer", 3: "group", 5: "group/app"}[id],
			"details.target_details": map[int]string{2: "developer", 3: "group", 5: "group/app"}[id], "id": float64(id),
			"created_at": day(id).Format("2006-01-02T15:04:05.000Z"),
			"author_id":  float64(map[int]int64{2: s.Root().ID, 3: users["developer"].ID, 5: users["developer"].ID}[id]),
			"entity_id":  float64(map[int]int64{2: users["developer"].ID, 3: s.AddGroup("group").ID, 5: s.store.projects[0].ID}[id]),
		})
		assert.Equal(t, event, c.get("/audit_events?per_page=100").array(t)[7-id])
	}
	event := s.AddAuditEvent(func(d *Document) {
		d.Set("details.ip_address", nil).Set("details.author_email", nil)
	})
	got := c.get(fmt.Sprint("/audit_events/", event.Get("id"))).object(t)
	assert.Nil(t, got["ip_address"])
	assert.Contains(t, got["details"], "ip_address")
	assert.NotContains(t, got["details"], "author_email")
}

// The documents do not show the type of a target's id. As on deployed servers it is a number for
// some events and a text for others. A test can set either type.
func TestAuditEventTargets(t *testing.T) {
	s, users, c := auditWorld(t)
	for id, want := range map[int]any{1: 1.0, 2: float64(users["developer"].ID), 3: "group", 5: "group/app"} {
		event := c.get(fmt.Sprint("/audit_events/", id)).object(t)
		assert.Equal(t, want, event["details"].(map[string]any)["target_id"])
		if id == 1 {
			assert.Equal(t, want, event["target_id"])
		}
	}
	generated := s.AddGroup("many")
	generated.AddGeneratedAuditEvents(1)
	assert.Equal(t, "many", c.get("/groups/many/audit_events").array(t)[0]["details"].(map[string]any)["target_id"])
	for given, want := range map[any]any{7: 7.0, "flightjs/flight": "flightjs/flight", nil: nil} {
		event := s.AddAuditEvent(func(d *Document) { d.Set("details.target_id", given) })
		assert.Equal(t, want, c.get(fmt.Sprint("/audit_events/", event.Get("id"))).object(t)["target_id"])
	}
	event := s.AddAuditEvent(func(d *Document) { d.Set("details.change", map[string]string{"name": "x"}) })
	details := c.get(fmt.Sprint("/audit_events/", event.Get("id"))).object(t)["details"].(map[string]any)
	assert.Equal(t, map[string]any{"name": "x"}, details["change"])
	assert.Panics(t, func() { event.Set("details.target_id", true) })
	assert.Panics(t, func() { event.Set("author_id", "root") }, "a type that the documents show")
}

func TestAuditEventsInGitLabsWords(t *testing.T) {
	_, _, c := auditWorld(t)
	r := c.get("/audit_events?entity_type=Gitlab::Audit::InstanceScope")
	require.Equal(t, 200, r.Status, r.Body)
	assert.Equal(t, []any{"Gitlab::Audit::InstanceScope"}, r.column(t, "entity_type"))
	assert.Equal(t, 400, c.get("/audit_events?entity_type=Service::Audit::InstanceScope").Status)
}

// Writes that the contract names record an event with the caller as the author.
func TestAuditEventsAreRecorded(t *testing.T) {
	s, users, c := auditWorld(t, WithNeutralNames())
	owner := c.as(users["owner"].Token)
	for _, step := range []struct {
		path, form     string
		on, target     string
		change, before string
		after          string
	}{
		{"PUT /groups/group/merge_request_approval_setting", "allow_author_approval=false", "Group", "group", "allow_author_approval", "true", "false"},
		{"PUT /projects/1/merge_request_approval_setting", "require_reauthentication_to_approve=true", "Project", "group/app", "require_reauthentication_to_approve", "false", "true"},
		{"PUT /projects/1/", "container_registry_access_level=private", "Project", "group/app", "container_registry_access_level", "enabled", "private"},
		{"POST /user/emails", "email=new@example.com", "User", "owner", "email address", "", "new@example.com"},
	} {
		method, path, _ := strings.Cut(step.path, " ")
		r := owner.send(method, path, step.form)
		require.Less(t, r.Status, 300, r.Body)
		event := c.get("/audit_events?per_page=1").array(t)[0]
		details := event["details"].(map[string]any)
		assert.Equal(t, step.on, event["entity_type"])
		assert.EqualValues(t, users["owner"].ID, event["author_id"])
		assert.Equal(t, []any{step.change, step.before, step.after, step.target, "127.0.0.1"},
			[]any{details["change"], details["from"], details["to"], details["entity_path"], details["ip_address"]})
		count := c.get("/audit_events").Header.Get("X-Total")
		owner.send(method, path, step.form) // the call changes nothing, or is refused
		owner.send(method, path, "allow_author_approval=maybe&container_registry_access_level=no&email=")
		assert.Equal(t, count, c.get("/audit_events").Header.Get("X-Total"), step.path)
	}
	added := owner.get("/user/emails").array(t)[1]
	assert.Equal(t, "new@example.com", added["email"])
	assert.Equal(t, 204, owner.send("DELETE", fmt.Sprint("/user/emails/", added["id"]), "").Status)
	removed := c.get("/audit_events?per_page=1").array(t)[0]["details"].(map[string]any)
	assert.Equal(t, []any{"email address", "new@example.com", ""}, []any{removed["change"], removed["from"], removed["to"]})

	const form = "max_attachment_size=7&personal_access_token_prefix=x&external_pipeline_validation_service_token=secret&unknown=1" +
		"&chatapp_secret=secret&antispam_api_key=secret&admin_notification_email=a@example.com"
	s.SetClock(later)
	assert.Equal(t, 200, c.send("PUT", "/application/settings", form).Status)
	assert.Equal(t, 200, c.send("PUT", "/application/settings", form).Status) // changes nothing
	events := c.get("/audit_events?entity_type=Service::Audit::InstanceScope&sort=desc").array(t)
	got := [][]any{}
	for _, event := range events[:len(events)-1] {
		details := event["details"].(map[string]any)
		got = append(got, []any{details["change"], details["from"], details["to"]})
	}
	assert.ElementsMatch(t, [][]any{
		{"max_attachment_size", "100", "7"}, {"personal_access_token_prefix", "", "x"}, {"external_pipeline_validation_service_token", "", ""},
		{"chatapp_secret", "", ""}, {"antispam_api_key", "", ""}, {"abuse_notification_email", "", "a@example.com"}, // under its new name only
	}, got)
}

// Calls record only changes that the documents name: of settings of the instance, of approvals and
// of a registry, and of e-mail addresses (Document 1 §6).
func TestAuditEventsOfEveryCall(t *testing.T) {
	s := contractServer(t)
	c := newCaller(t, s)
	count := func() int {
		_, pages := c.walk("/audit_events?per_page=1", "id")
		return pages
	}
	recorded := map[string]int{}
	for _, x := range examples() {
		before := count()
		require.Less(t, x.send(t, s).Status, 300, "%s: a 404 means that no file of forgetest has a row for it", x.id)
		if n := count() - before; n > 0 {
			recorded[x.id] = n
			change := c.get("/audit_events?per_page=1").array(t)[0]["details"].(map[string]any)["change"]
			assert.Contains(t, []any{"email address", "signup_enabled", "allow_author_approval"}, change, x.id)
		}
	}
	s.FinishBackgroundJobs()
	assert.Equal(t, map[string]int{
		"emails.add_current": 1, "emails.add_user": 1, "emails.delete_current": 1, "emails.delete_user": 1, "settings.update": 1,
		"approval_settings.update_group": 1,
	}, recorded)
}

func TestGeneratedAuditEvents(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	s.AddAuditEvent(nil)
	s.AddGeneratedAuditEvents(1_000_000)
	p.AddGeneratedAuditEvents(2_000_000)
	s.AddGroup("group").AddGeneratedAuditEvents(500_000)
	p.AddAuditEvent(func(d *Document) { d.Set("details.custom_message", "last") })
	c := newCaller(t, s)
	const keyset = "pagination=keyset&order_by=id&sort=desc&per_page=100"

	r := c.get("/projects/1/audit_events?" + keyset)
	assert.EqualValues(t, 3_500_002, r.array(t)[0]["id"])
	assert.EqualValues(t, 3_000_001, r.array(t)[1]["id"])
	assert.EqualValues(t, 3_000_001-99, c.get(r.next()).array(t)[0]["id"])
	page := c.get("/projects/1/audit_events?per_page=100&page=20001")
	assert.Equal(t, []any{1_000_002.0}, page.column(t, "id"))
	assert.NotContains(t, page.Header, "X-Total")
	assert.Empty(t, page.Header.Get("X-Next-Page"))

	middle := generatedTime(2_000_000)
	query := "created_after=" + middle.Format(time.RFC3339) + "&created_before=" + middle.Add(249*time.Minute).Format(time.RFC3339)
	walked, pages := c.walk("/projects/1/audit_events?"+keyset+"&"+query, "id")
	assert.Len(t, walked, 250)
	assert.Equal(t, 3, pages)
	assert.EqualValues(t, 2_000_249, walked[0])
	assert.EqualValues(t, 2_000_000, walked[249])
	event := c.get("/projects/1/audit_events/2000000").object(t)
	assert.Equal(t, middle.Format(timestampLayout), event["created_at"])
	assert.Equal(t, event, c.get("/audit_events/2000000").object(t))
	assert.Equal(t, []any{500_000.0 + 3_000_001}, c.get("/groups/group/audit_events?per_page=1").column(t, "id"))

	// a concurrent event does not move a keyset walk
	first := c.get("/audit_events?" + keyset)
	s.AddAuditEvent(nil)
	assert.EqualValues(t, int(first.array(t)[99]["id"].(float64))-1, c.get(first.next()).array(t)[0]["id"])
}
