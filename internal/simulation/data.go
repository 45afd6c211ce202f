package simulation

import (
	"fmt"

	"github.com/forge-sdk/forge-go/forgetest"
)

// Data are the records that a world starts with.
type Data struct {
	Group          *forgetest.Group
	Project        *forgetest.Project
	Registry       *forgetest.RegistryRepository // the repository with tags; nil without any
	Issues         []*forgetest.Issue
	MergeRequests  []*forgetest.MergeRequest
	Users          []*forgetest.User
	Runners        []*forgetest.Runner
	ResourceGroups []string
	Emails         []string // IDs
	SecureFiles    [][]byte // content, in the order of their IDs
	SecureFileIDs  []int64
	Files          map[string]string
	Blobs          []string // IDs
	BlobSizes      []int
}

// fill creates the records. Without data it takes a few microseconds.
func fill(s *forgetest.Server, plan DataPlan) Data {
	d := Data{Group: s.AddGroup("group"), Project: s.AddProject("group/app"), BlobSizes: plan.Blobs}
	if plan.Issues > 0 {
		d.Issues = d.Project.AddIssues(plan.Issues, func(i int, doc *forgetest.Document) {
			doc.Set("title", fmt.Sprintf("Issue %d", i+1))
		})
	}
	if plan.Users > 0 {
		d.Users = s.AddUsers(plan.Users, "user")
	}
	for range plan.Runners {
		d.Runners = append(d.Runners, d.Project.AddRunner(nil))
	}
	for i := range plan.Emails {
		doc := s.Root().AddEmail(fmt.Sprintf("root%d@example.test", i+1))
		d.Emails = append(d.Emails, fmt.Sprint(doc.Get("id")))
	}
	if plan.AuditEvents > 0 {
		s.AddGeneratedAuditEvents(plan.AuditEvents)
		d.Group.AddGeneratedAuditEvents(plan.AuditEvents)
		d.Project.AddGeneratedAuditEvents(plan.AuditEvents)
	}
	for i := range plan.ResourceGroups {
		key := fmt.Sprintf("production-%d", i+1)
		d.Project.AddResourceGroup(key)
		d.ResourceGroups = append(d.ResourceGroups, key)
	}
	for i := range plan.Placeholders {
		user := s.AddUser(fmt.Sprintf("placeholder-%d", i+1))
		d.Group.AddPlaceholder(forgetest.Placeholder{User: user})
	}
	for i, size := range plan.SecureFiles {
		content := Pattern(size)
		doc := d.Project.AddSecureFile(fmt.Sprintf("file-%d.bin", i+1), content, nil)
		d.SecureFiles = append(d.SecureFiles, content)
		d.SecureFileIDs = append(d.SecureFileIDs, doc.Get("id").(int64))
	}
	d.fillRegistry(plan)
	d.fillRepository(plan)
	return d
}

func (d *Data) fillRegistry(plan DataPlan) {
	if plan.Tags > 0 {
		d.Registry = d.Project.AddRegistryRepository("image").AddTags(plan.Tags, nil)
	}
	for i := range plan.Repositories {
		d.Project.AddRegistryRepository(fmt.Sprintf("other-%d", i+1))
	}
}

func (d *Data) fillRepository(plan DataPlan) {
	if plan.Files > 0 || plan.MergeRequests > 0 {
		d.Files = map[string]string{"README.md": "# App\n"}
		for i := range plan.Files {
			d.Files[fmt.Sprintf("file-%03d.txt", i+1)] = fmt.Sprintf("line %d\n", i+1)
		}
		d.Project.AddFiles(d.Files)
	}
	if plan.MergeRequests > 0 {
		d.MergeRequests = d.Project.AddMergeRequests(plan.MergeRequests, nil)
	}
	for i, size := range plan.Blobs {
		d.Blobs = append(d.Blobs, d.Project.AddGeneratedBlob(fmt.Sprintf("blob-%d.bin", i+1), int64(size)))
	}
}

// Pattern returns content of a size. No two long parts of it are equal, so that a moved byte is
// detected.
func Pattern(size int) []byte {
	b := make([]byte, size)
	x := uint32(size)*2654435761 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}
