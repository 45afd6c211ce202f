package forgetest

import (
	"fmt"
	"testing"

	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"mime/multipart"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sampleGroup is the part of contractServer for the group.
func sampleGroup(group *Group, jane *User) {
	group.AddPlaceholder(Placeholder{SourceHost: "old.example.com", SourceID: "1"})
	group.AddMember(jane, Maintainer)
}

// sampleProject is the part of contractServer for secure files and resource groups.
func sampleProject(app *Project) {
	app.AddSecureFile("key.jks", []byte("secret"), func(d *Document) {
		d.Set("metadata", NewDocument("SecureFileMetadata").Set("subject", NewDocument("CertificateName").Set("UID", "x")))
	})
	app.AddResourceGroup("production").AddUpcomingJob(nil)
}

// setting returns one setting of a response in a short form: "true", "false locked group".
func setting(t *testing.T, r reply, name string) string {
	t.Helper()
	object := r.object(t)
	v := object[name].(map[string]any)
	if v["locked"] == true {
		return fmt.Sprintf("%v locked %v", v["value"], v["inherited_from"])
	}
	assert.Nil(t, v["inherited_from"])
	return fmt.Sprint(v["value"])
}

func TestApprovalSettings(t *testing.T) {
	for _, path := range []string{"/groups/group%2Fsub", "/projects/group%2Fsub%2Fapp"} {
		s := New(t, WithRelease("18.2"))
		s.AddProject("group/sub/app")
		c := newCaller(t, s)
		path += "/merge_request_approval_setting"
		for name, want := range map[string]string{
			"allow_author_approval": "true", "allow_committer_approval": "true", "allow_overrides_to_approver_list_per_merge_request": "true",
			"retain_approvals_on_push": "true", "selective_code_owner_removals": "false", "require_password_to_approve": "false",
			"require_reauthentication_to_approve": "false",
		} {
			assert.Equal(t, want, setting(t, c.get(path), name), name)
			if name == "selective_code_owner_removals" || name == "require_password_to_approve" {
				continue
			}
			changed := map[string]string{"true": "false", "false": "true"}[want]
			r := c.send("PUT", path, name+"="+changed)
			assert.Equal(t, 200, r.Status)
			assert.Equal(t, changed, setting(t, r, name))
			assert.Equal(t, r.Body, c.get(path).Body)
		}
		assert.Equal(t, "true", setting(t, c.send("PUT", path, "selective_code_owner_removals=true"), "selective_code_owner_removals"))
		before := c.get(path).Body
		for form, body := range map[string]string{
			"retain_approvals_on_push=true&allow_author_approval=true": `{"message":{"selective_code_owner_removals":["can only be enabled when retain_approvals_on_push is disabled"]}}`,
			"allow_author_approval=maybe":                              `{"error":"allow_author_approval is invalid"}`,
		} {
			r := c.send("PUT", path, form)
			assert.Equal(t, 400, r.Status)
			assert.Equal(t, body, r.Body)
			assert.Equal(t, before, c.get(path).Body)
		}
		assert.Equal(t, before, c.send("PUT", path, "require_password_to_approve=true").Body) // no parameter
		assert.Equal(t, before, c.send("PUT", path, "").Body)
		assert.Equal(t, 200, c.send("PUT", path, "retain_approvals_on_push=true&selective_code_owner_removals=false").Status)
		assert.Equal(t, 400, c.send("PUT", path, "selective_code_owner_removals=true").Status)
	}
}

func TestApprovalSettingsAreInherited(t *testing.T) {
	s := New(t)
	s.AddProject("group/sub/app")
	c := newCaller(t, s)
	const top, sub, app = "/groups/group/merge_request_approval_setting", "/groups/group%2Fsub/merge_request_approval_setting", "/projects/1/merge_request_approval_setting"
	look := func(name string) []string {
		return []string{setting(t, c.get(top), name), setting(t, c.get(sub), name), setting(t, c.get(app), name)}
	}
	for _, name := range []string{"allow_author_approval", "allow_committer_approval", "allow_overrides_to_approver_list_per_merge_request", "retain_approvals_on_push"} {
		c.send("PUT", app, name+"=true")
		assert.Equal(t, []string{"true", "true", "true"}, look(name))
		c.send("PUT", top, name+"=false")
		assert.Equal(t, []string{"false", "false locked group", "false locked group"}, look(name))
		assert.Equal(t, "false locked group", setting(t, c.send("PUT", app, name+"=true"), name))
		c.send("PUT", top, name+"=true")
		c.send("PUT", sub, name+"=false")
		assert.Equal(t, []string{"true", "false", "false locked group"}, look(name))
		c.send("PUT", sub, name+"=true")
		assert.Equal(t, []string{"true", "true", "true"}, look(name)) // own values of the project
	}
	c.send("PUT", sub, "require_reauthentication_to_approve=true")
	assert.Equal(t, []string{"false", "true", "true locked group"}, look("require_reauthentication_to_approve"))
	c.send("PUT", top, "retain_approvals_on_push=false&selective_code_owner_removals=true")
	assert.Equal(t, []string{"true", "false", "false"}, look("selective_code_owner_removals"))
	c.send("PUT", top, "selective_code_owner_removals=false")
	assert.Equal(t, []string{"false", "false", "false"}, look("selective_code_owner_removals"), "it is not inherited")
	assert.Equal(t, 200, c.send("PUT", app, "selective_code_owner_removals=true").Status) // the group has disabled retain
}

func TestApprovalSettingsNeedRoleAndTier(t *testing.T) {
	for tier, want := range map[Tier]int{Free: 403, Premium: 200, Ultimate: 200} {
		s := New(t, WithTier(tier), WithRelease("18.2"))
		p := s.AddProject("group/app")
		g := s.AddGroup("group")
		c := newCaller(t, s)
		for name, tc := range map[string]struct {
			role           Role
			group, project int
		}{"maintainer": {Maintainer, 403, want}, "owner": {Owner, want, want}, "developer": {Developer, 403, 403}} {
			u := s.AddUser(name)
			g.AddMember(u, tc.role)
			for _, method := range []string{"GET", "PUT"} {
				assert.Equal(t, tc.group, c.as(u.Token).send(method, "/groups/group/merge_request_approval_setting", "").Status, name)
				assert.Equal(t, tc.project, c.as(u.Token).send(method, "/projects/1/merge_request_approval_setting", "").Status, name)
			}
		}
		assert.Equal(t, 401, c.as("").get("/groups/group/merge_request_approval_setting").Status)
		assert.Equal(t, int64(1), p.ID)
	}
}

func TestResourceGroups(t *testing.T) {
	s := New(t)
	pass := ticking(s)
	p := s.AddProject("group/app")
	g := p.AddResourceGroup("production_eu")
	assert.Same(t, g, p.AddResourceGroup("production_eu"))
	p.AddResourceGroup("a/b c")
	s.AddProject("group/other").AddResourceGroup("other")
	c := newCaller(t, s)
	const path = "/projects/group%2Fapp/resource_groups"

	list := c.get(path).array(t)
	require.Len(t, list, 2)
	assert.Equal(t, []any{"production_eu", "a/b c"}, c.get(path).column(t, "key"))
	for _, key := range []string{"production_eu", "production%5Feu"} {
		got := c.get(path + "/" + key).object(t)
		assert.Equal(t, map[string]any{
			"id": 1.0, "key": "production_eu", "process_mode": "unordered",
			"created_at": "2026-03-04T12:00:00.000Z", "updated_at": "2026-03-04T12:00:00.000Z",
		}, got)
	}
	assert.Equal(t, "a/b c", c.get(path + "/a%2Fb%20c").object(t)["key"])
	for _, step := range []struct {
		form    string
		status  int
		mode    string
		updated string
	}{
		{"process_mode=oldest_first", 200, "oldest_first", "12:01"},
		{"process_mode=newest_first", 200, "newest_first", "12:02"},
		{"process_mode=newest_ready_first", 200, "newest_ready_first", "12:03"},
		{"process_mode=random", 400, "newest_ready_first", "12:03"},
		{"", 200, "newest_ready_first", "12:03"},
		{"process_mode=unordered", 200, "unordered", "12:06"},
	} {
		pass(time.Minute)
		r := c.send("PUT", path+"/production_eu", step.form)
		assert.Equal(t, step.status, r.Status, r.Body)
		got := c.get(path + "/production_eu").object(t)
		assert.Equal(t, step.mode, got["process_mode"])
		assert.Equal(t, "2026-03-04T12:00:00.000Z", got["created_at"])
		assert.Equal(t, "2026-03-04T"+step.updated+":00.000Z", got["updated_at"], step.form)
		if step.status == 200 {
			assert.Equal(t, got, r.object(t))
		}
	}
	assert.Equal(t, "unordered", g.Get("process_mode"))
	for _, missing := range []string{"/none", "/none/upcoming_jobs", "/other", "/other/upcoming_jobs"} {
		r := c.get(path + missing)
		assert.Equal(t, 404, r.Status)
		assert.JSONEq(t, `{"message":"404 Resource Group Not Found"}`, r.Body)
	}
	assert.Equal(t, 404, c.send("PUT", path+"/none", "process_mode=unordered").Status)
}

// profileTexts are the fields of a profile that may contain any text.
const profileTexts = "avatar_url bio location public_email linkedin twitter website_url organization job_title pronouns work_information"

func TestUpcomingJobs(t *testing.T) {
	s := New(t)
	s.AddProject("group/first").AddResourceGroup("production").AddUpcomingJob(nil) // so that no two ids are equal
	s.AddProject("group/second")
	g := s.AddProject("group/app").AddResourceGroup("production")
	s.Root().Edit(func(d *Document) {
		for i, name := range strings.Fields(profileTexts) {
			d.Set(name, fmt.Sprint("profile ", i))
		}
		d.Set("followers", 7).Set("following", 8).Set("bot", true)
	})
	for i := range 3 {
		g.AddUpcomingJob(func(d *Document) { d.Set("name", fmt.Sprintf("deploy %d", i)).Set("user.location", "Oslo") })
	}
	c := newCaller(t, s)
	const path = "/projects/3/resource_groups/production"
	job := c.get(path + "/upcoming_jobs").array(t)[0]
	assert.Equal(t, "waiting_for_resource", job["status"])
	assert.Equal(t, "root", job["user"].(map[string]any)["username"])
	assert.Equal(t, "Oslo", job["user"].(map[string]any)["location"])
	profile := c.get("/user").object(t)
	for _, name := range strings.Fields("id username name state web_url created_at bot followers following local_time " + profileTexts) {
		if name != "location" {
			assert.Equal(t, profile[name], job["user"].(map[string]any)[name], name)
		}
	}
	sha := strings.Repeat("0", 39) + "2"
	assertShown(t, job, map[string]any{
		"id": 2.0, "stage": "deploy", "name": "deploy 0", "ref": "main", "tag": false, "allow_failure": false, "web_url": s.URL + "/group/app/-/jobs/2",
		"commit.id": sha, "commit.short_id": "00000000", "commit.title": "Deploy", "commit.message": "Deploy\n",
		"commit.author_name": "Root", "commit.author_email": "root@example.com", "commit.committer_name": "Root",
		"commit.committer_email": "root@example.com", "commit.authored_date": job["created_at"], "commit.committed_date": job["created_at"],
		"commit.created_at": job["created_at"], "commit.web_url": s.URL + "/group/app/-/commit/" + sha,
		"commit.parent_ids": []any{}, "commit.trailers": map[string]any{}, "project": map[string]any{"ci_job_token_scope_enabled": false},
		"pipeline.id": 2.0, "pipeline.iid": 2.0, "pipeline.project_id": 3.0, "pipeline.sha": sha, "pipeline.ref": "main",
		"pipeline.status": "running", "pipeline.source": "push", "pipeline.web_url": s.URL + "/group/app/-/pipelines/2",
		"pipeline.created_at": job["created_at"], "pipeline.updated_at": job["created_at"],
		"coverage": nil, "started_at": nil, "finished_at": nil, "duration": nil, "queued_duration": nil,
	})
	g.AddUpcomingJob(func(d *Document) {
		d.Set("coverage", 12.5).Set("started_at", noon()).Set("finished_at", noon().Add(time.Minute)).Set("tag", true).
			Set("project.ci_job_token_scope_enabled", true).Set("duration", 1.5).Set("queued_duration", 2.0)
	})
	job = c.get(path + "/upcoming_jobs").array(t)[3]
	assert.Equal(t, []any{12.5, "2026-03-04T12:00:00.000Z", "2026-03-04T12:01:00.000Z", 1.5, 2.0},
		[]any{job["coverage"], job["started_at"], job["finished_at"], job["duration"], job["queued_duration"]})
	assertShown(t, job, map[string]any{"tag": true, "allow_failure": false, "project.ci_job_token_scope_enabled": true, "user.bot": true})
	g.jobs = g.jobs[:3]
	for mode, want := range map[string][]any{
		"unordered":          {"deploy 0", "deploy 1", "deploy 2"},
		"oldest_first":       {"deploy 0", "deploy 1", "deploy 2"},
		"newest_first":       {"deploy 2", "deploy 1", "deploy 0"},
		"newest_ready_first": {"deploy 2", "deploy 1", "deploy 0"},
	} {
		assert.Equal(t, 200, c.send("PUT", path, "process_mode="+mode).Status)
		walked, pages := c.walk(path+"/upcoming_jobs?per_page=2", "name")
		assert.Equal(t, want, walked, mode)
		assert.Equal(t, 2, pages)
	}
	running := s.store.projects[0].AddRunner(nil).AddJob(s.store.projects[0], "s_1", nil)
	assert.EqualValues(t, 6, running.Get("id"), "the jobs of runners are counted with them")
}

func TestResourceGroupRoles(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddResourceGroup("x")
	c := newCaller(t, s)
	for name, tc := range map[string]struct {
		role   Role
		status int
	}{"reporter": {Reporter, 403}, "developer": {Developer, 200}, "stranger": {NoAccess, 403}} {
		u := s.AddUser(name)
		p.AddMember(u, tc.role)
		for _, path := range []string{"", "/x", "/x/upcoming_jobs"} {
			assert.Equal(t, tc.status, c.as(u.Token).get("/projects/1/resource_groups"+path).Status, name+path)
		}
		assert.Equal(t, tc.status, c.as(u.Token).send("PUT", "/projects/1/resource_groups/x", "process_mode=oldest_first").Status)
	}
	assert.Equal(t, 401, c.as("").get("/projects/1/resource_groups").Status)
}

const secureFiles = "/projects/group%2Fapp/secure_files"

// upload sends a multipart body; a part whose name starts with @ is a file.
func (c caller) upload(path string, parts map[string]string) reply {
	c.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, value := range parts {
		part, err := w.CreateFormField(name)
		if file, isFile := strings.CutPrefix(name, "@"); isFile {
			part, err = w.CreateFormFile(file, "upload.csv")
		}
		require.NoError(c.t, err)
		_, err = part.Write([]byte(value))
		require.NoError(c.t, err)
	}
	require.NoError(c.t, w.Close())
	return c.sendAs("POST", path, w.FormDataContentType(), body.String())
}

func TestSecureFiles(t *testing.T) {
	s := New(t)
	s.SetClock(noon)
	p := s.AddProject("group/app")
	p.AddSecureFile("seed.txt", []byte("seed"), func(d *Document) { d.Set("expires_at", noon()) })
	c := newCaller(t, s)
	content := "\x00\x01 key \xff"
	sum := sha256.Sum256([]byte(content))
	r := c.upload(secureFiles, map[string]string{"name": "my key.jks", "@file": content})
	require.Equal(t, 201, r.Status, r.Body)
	file := r.object(t)
	assert.Equal(t, map[string]any{
		"id": 2.0, "name": "my key.jks", "checksum": hex.EncodeToString(sum[:]), "checksum_algorithm": "sha256",
		"created_at": "2026-03-04T12:00:00.000Z", "expires_at": nil, "metadata": nil,
	}, file)
	assert.Equal(t, file, c.get(secureFiles+"/2").object(t))
	assert.Equal(t, []any{"seed.txt", "my key.jks"}, c.get(secureFiles).column(t, "name"))
	assert.Equal(t, "2026-03-04T12:00:00.000Z", c.get(secureFiles + "/1").object(t)["expires_at"])
	walked, pages := c.walk(secureFiles+"?per_page=1", "id")
	assert.Equal(t, []any{1.0, 2.0}, walked)
	assert.Equal(t, 2, pages)

	download := c.get(secureFiles + "/2/download")
	assert.Equal(t, 200, download.Status)
	assert.Equal(t, content, download.Body)
	assert.Equal(t, []string{"application/octet-stream", ""}, []string{download.Header.Get("Content-Type"), download.Header.Get("ETag")})
	assert.Equal(t, `attachment; filename="my key.jks"`, download.Header.Get("Content-Disposition"))

	taken := c.upload(secureFiles, map[string]string{"name": "my key.jks", "@file": "other"})
	assert.Equal(t, 400, taken.Status)
	assert.JSONEq(t, `{"message":{"name":["has already been taken"]}}`, taken.Body)
	s.AddProject("group/other")
	assert.Equal(t, 201, c.upload("/projects/group%2Fother/secure_files", map[string]string{"name": "my key.jks", "@file": ""}).Status)
	assert.Equal(t, 404, c.get(secureFiles+"/3").Status) // a file of the other project
	assert.JSONEq(t, `{"error":"id is invalid"}`, c.get(secureFiles+"/x").Body)

	gone := c.send("DELETE", secureFiles+"/2", "")
	assert.Equal(t, 204, gone.Status)
	assert.Empty(t, gone.Body)
	assert.Equal(t, []any{"seed.txt"}, c.get(secureFiles).column(t, "name"))
	for _, path := range []string{"/2", "/2/download"} {
		assert.JSONEq(t, `{"message":"404 Secure File Not Found"}`, c.get(secureFiles+path).Body)
	}
	assert.Equal(t, 404, c.send("DELETE", secureFiles+"/2", "").Status)
	assert.Equal(t, 201, c.upload(secureFiles, map[string]string{"name": "my key.jks", "@file": content}).Status) // the name is available again
}

func TestSecureFileRefusals(t *testing.T) {
	const limit = 5 << 20 // the 5 MB of the document are MiB
	s := New(t)
	p := s.AddProject("group/app", Private)
	c := newCaller(t, s)
	for body, parts := range map[string]map[string]string{
		`{"error":"file is missing"}`:                             {"name": "a"},
		`{"error":"name is missing"}`:                             {"@file": "x"},
		`{"error":"file is missing, name is missing"}`:            {},
		`{"error":"file is invalid"}`:                             {"name": "a", "file": "no file"},
		`{"message":"413 Request Entity Too Large"}`:              {"name": "a", "@file": strings.Repeat("x", limit+1)},
		`{"error":"message body does not match declared format"}`: nil,
	} {
		r := c.upload(secureFiles, parts)
		if parts == nil {
			r = c.sendAs("POST", secureFiles, "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\ncut")
		}
		assert.Equal(t, body, r.Body)
	}
	assert.Equal(t, 0, s.CountApplied("*"))
	assert.Equal(t, 201, c.upload(secureFiles, map[string]string{"name": "a", "@file": strings.Repeat("x", limit)}).Status)
	for name, tc := range map[string]struct {
		role        Role
		read, write int
	}{"stranger": {NoAccess, 404, 404}, "reporter": {Reporter, 403, 403}, "developer": {Developer, 200, 403}, "maintainer": {Maintainer, 200, 201}} {
		u := s.AddUser(name)
		p.AddMember(u, tc.role)
		as := c.as(u.Token)
		for _, path := range []string{"", "/1", "/1/download"} {
			assert.Equal(t, tc.read, as.get(secureFiles+path).Status, name+path)
		}
		assert.Equal(t, tc.write, as.upload(secureFiles, map[string]string{"name": name, "@file": "x"}).Status, name)
		if tc.write != 201 {
			assert.Equal(t, tc.write, as.send("DELETE", secureFiles+"/1", "").Status, name)
		}
	}
	assert.Equal(t, 401, c.as("").get(secureFiles).Status)
}

// Certificates are parsed in the background.
func TestSecureFileMetadata(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	name := pkix.Name{Country: []string{"NO", "SE"}, Organization: []string{"Acme", "Berg"}, OrganizationalUnit: []string{"Apps", "Mail"}, CommonName: "Signing",
		ExtraNames: []pkix.AttributeTypeAndValue{{Type: asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 1}, Value: "ABC123"}}}
	template := &x509.Certificate{SerialNumber: big.NewInt(4711), Subject: name, NotBefore: noon(), NotAfter: noon().AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	for form, data := range map[string]string{"DER": string(der), "PEM": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))} {
		s := New(t)
		pass := ticking(s)
		p := s.AddProject("group/app")
		c := newCaller(t, s)
		assert.Nil(t, c.upload(secureFiles, map[string]string{"name": "a.cer", "@file": data}).object(t)["metadata"])
		pass(time.Second)
		file := c.get(secureFiles + "/1").object(t)
		who := map[string]any{"C": "NO,SE", "O": "Acme,Berg", "CN": "Signing", "OU": "Apps,Mail"}
		subject := map[string]any{"C": "NO,SE", "O": "Acme,Berg", "CN": "Signing", "OU": "Apps,Mail", "UID": "ABC123"}
		assert.Equal(t, map[string]any{"id": "4711", "issuer": who, "subject": subject, "expires_at": "2027-03-04T12:00:00.000Z"}, file["metadata"], form)
		assert.Equal(t, "2027-03-04T12:00:00.000Z", file["expires_at"])
		assert.Equal(t, noon().AddDate(1, 0, 0), p.AddSecureFile("b.cer", []byte(data), nil).Get("expires_at"))
		plain, err := newCertificate("forge.test")
		require.NoError(t, err)
		p.AddSecureFile("c.cer", plain.Certificate[0], nil)
		assert.NotContains(t, below(t, c.get(secureFiles+"/3"), "metadata.subject"), "UID")
	}
}

// The members of a group lose their roles in a project that moves to a user.
func TestMoveToUser(t *testing.T) {
	s := New(t)
	p, jane := s.AddProject("group/app", Private), s.AddUser("jane")
	s.AddGroup("group").AddMember(jane, Owner)
	assert.Equal(t, Owner, p.role(jane))
	p.MoveTo("root/app")
	assert.Equal(t, NoAccess, p.role(jane))
}
