package forgetest

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// demoEvents is the number of audit events in the demo data.
const demoEvents = 260

// seedOperations adds records for administrators: images, runners with their jobs, audit events,
// and users of an import that wait for their accounts.
func (d *demo) seedOperations(s *Server, acme *Group) {
	projects := map[string]*Project{}
	for _, p := range s.store.projects {
		projects[p.slug()] = p
	}
	d.seedRegistry(projects)
	d.seedRunners(s, acme, projects)
	d.seedEvents(s, acme)
	for _, p := range []Placeholder{
		{SourceID: "101", SourceName: "Maya Lindqvist", SourceUser: "maya.lindqvist"},
		{SourceID: "102", SourceName: "Tomas Berg", SourceUser: "tberg"},
		{SourceID: "103", SourceName: "Aisha Khan", SourceUser: "aisha.khan"},
		{SourceID: "104", SourceName: "Daniel Okafor", SourceUser: "dokafor"},
		{SourceID: "105", SourceName: "Ines Moreau", SourceUser: "imoreau"},
		{SourceID: "106", SourceName: "Build Robot", SourceUser: "buildbot"},
	} {
		p.SourceHost, p.ImportType = "https://bitbucket.old.example.com", "bitbucket_server"
		acme.AddPlaceholder(p)
	}
}

// daysAgo returns a time before DemoTime.
func daysAgo(days float64) time.Time {
	return DemoTime().Add(-time.Duration(days * 24 * float64(time.Hour)))
}

// seedRegistry adds protected tags of releases, and many images of branches.
func (d *demo) seedRegistry(projects map[string]*Project) {
	image := func(age float64, megabytes int) func(tag *Document) {
		return func(tag *Document) { tag.Set("created_at", daysAgo(age)).Set("total_size", megabytes*1_000_000) }
	}
	shop := projects["storefront"]
	shop.ProtectRegistryTags(`v[0-9.]+`)
	web := shop.AddRegistryRepository("web").AddTag("latest", image(4, 184))
	for i := range 6 {
		web.AddTag(fmt.Sprintf("v1.%d.0", i), image(float64(330-65*i), 170+3*i))
	}
	for i := range 14 {
		web.AddTag(fmt.Sprintf("dev-%07x", 0x2c41e9a*(i+3)&0xfffffff), image(1.5+float64(i*i)*1.6, 186-i))
	}
	for i := range 5 {
		web.AddTag(fmt.Sprintf("mr-%d", 118-9*i), image(35+float64(20*i), 188))
	}
	web.SetCreatedAt(daysAgo(340))
	cron := shop.AddRegistryRepository("cron").AddTag("latest", image(400, 61)).AddTag("v0.9.0", image(402, 61))
	cron.SetCreatedAt(daysAgo(410))
	gateway := projects["gateway"].AddRegistryRepository("")
	for i, tag := range []string{"v1.0.0", "v1.1.0", "v1.2.0", "latest"} {
		gateway.AddTag(tag, image(float64(320-75*i), 24+i))
	}
	gateway.SetCreatedAt(daysAgo(320))
}

// seedRunners adds runners of each kind and state: two busy ones, one of them with a job that
// hangs, and four that need attention.
func (d *demo) seedRunners(s *Server, acme *Group, projects map[string]*Project) {
	describe := func(name, version string, contact float64, tags ...string) func(*Document) {
		return func(r *Document) {
			r.Set("description", name).Set("version", version).Set("contacted_at", daysAgo(contact)).Set("tag_list", tags)
		}
	}
	machine := func(version, status, address string, contact float64) func(*Document) {
		return func(m *Document) {
			m.Set("version", version).Set("status", status).Set("ip_address", address).Set("contacted_at", daysAgo(contact)).
				Set("created_at", daysAgo(200))
		}
	}
	job := func(name, stage string, hours float64) func(*Document) {
		return func(j *Document) {
			at := daysAgo(hours / 24)
			j.Set("name", name).Set("stage", stage).Set("created_at", at.Add(-time.Minute)).Set("started_at", at).
				Set("duration", DemoTime().Sub(at).Seconds()).Set("queued_duration", 60.0)
		}
	}
	linux := s.AddRunner(describe("shared-linux", "18.0.0", 0.001, "linux", "docker"))
	linux.AddManager("s_9f3a1c", machine("18.0.0", "online", "10.0.4.11", 0.001))
	linux.AddManager("s_b27e40", machine("17.11.2", "online", "10.0.4.12", 0.001))
	linux.AddManager("s_c81d55", machine("17.8.1", "stale", "10.0.4.13", 12))
	linux.AddJob(projects["gateway"], "s_9f3a1c", job("unit tests", "test", 0.1))
	linux.AddJob(projects["storefront"], "s_b27e40", job("end-to-end tests", "test", 7.4))
	arm := s.AddRunner(describe("shared-arm", "18.0.0", 0.002, "linux", "arm64"))
	arm.AddManager("s_40aa17", machine("18.0.0", "online", "10.0.4.21", 0.002))
	arm.AddJob(projects["billing-api"], "s_40aa17", job("image", "build", 0.2))
	mac := acme.AddRunner(describe("mac-mini", "17.9.0", 0.4, "macos", "xcode"))
	mac.AddManager("s_17d0e2", machine("17.9.0", "offline", "10.0.7.3", 0.4))
	mac.AddJob(projects["mobile-app"], "s_17d0e2", job("ios build", "build", 10))
	lab := projects["mobile-app"].AddRunner(describe("android-lab", "16.4.0", 23, "android"))
	lab.AddManager("r_5be8c9", machine("16.4.0", "stale", "10.0.9.40", 23))
	s.AddRunner(func(r *Document) { r.Set("description", "gpu-trial").Set("contacted_at", nil) })
	old := acme.AddRunner(describe("old-builder", "16.11.4", 0.01, "linux"))
	old.AddManager("s_02cc6f", machine("16.11.4", "online", "10.0.4.9", 0.01))
	old.doc.Set("paused", true).Set("active", false)
}

// seedEvents adds a year of audit events: of the instance, the group and its projects.
func (d *demo) seedEvents(s *Server, acme *Group) {
	r := rand.New(rand.NewPCG(7, 2026))
	kinds := []struct {
		on                        any
		change, from, to, message string
	}{
		{on: acme, change: "access_level", from: "Developer", to: "Maintainer", message: "Changed access level from Developer to Maintainer"},
		{on: acme, message: "Added user as Developer"},
		{on: s.store.projects[0], change: "visibility", from: "private", to: "internal", message: "Changed visibility from private to internal"},
		{on: s.store.projects[1], message: "Created project access token"},
		{on: s.store.projects[2], message: "Added deploy key"},
		{on: s.store.projects[3], change: "name", message: "Changed name"},
		{on: s.store.root, message: "Failed to sign in with two-factor authentication"},
		{change: "session_expire_delay", from: "10080", to: "480", message: "Changed session_expire_delay from 10080 to 480"},
		{change: "signup_enabled", from: "true", to: "false", message: "Changed signup_enabled from true to false"},
	}
	for i := range demoEvents {
		kind, author := pick(r, kinds), d.team[pick(r, d.names)]
		at := daysAgo(365 * float64(demoEvents-i) / demoEvents).Truncate(time.Second)
		s.seedEvent(kind.on, func(event *Document) {
			event.Set("author_id", author.ID).Set("created_at", at).Set("details.author_name", author.Name).
				Set("details.author_email", author.Email).Set("details.custom_message", kind.message).
				Set("details.ip_address", fmt.Sprintf("10.0.%d.%d", r.IntN(4), 2+r.IntN(200)))
			if kind.change != "" {
				event.Set("details.change", kind.change).Set("details.from", kind.from).Set("details.to", kind.to)
			}
		})
	}
}
