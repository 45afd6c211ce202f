package main

import (
	"context"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/forge-sdk/forge-go"
)

// TestContendersDecodeTheDocuments compares all contenders with the documents, as each row does
// before its first round. A call that is left out ends the run.
func TestContendersDecodeTheDocuments(t *testing.T) {
	srv := httptest.NewServer(newServer())
	t.Cleanup(srv.Close)
	base, issues := srv.URL+"/n500", race{sent: someIssues(500)}
	contenders := []contender{
		{forgeName, newOurs(base).issues()}, {handName, newHand(base, transport()).issues}, {peerName, newPeer(base).issues},
		{ahead(8), newOurs(base).issues(forge.Ahead(8))},
	}
	if hasV2 {
		contenders = append(contenders, contender{v2Name, newV2(base, transport()).issues})
	}
	for _, c := range contenders {
		if err := issues.agree(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
	for name, calls := range map[string]mixed{forgeName: newOurs(base).mixed(), handName: newHand(base, transport()).mixed(), peerName: newPeer(base).mixed()} {
		all := race{sent: mixedDocuments()}
		if err := all.agree(t.Context(), contender{name, calls.once}); err != nil {
			t.Error(err)
		}
		if err := all.agree(t.Context(), contender{name, calls[1:].once}); err == nil {
			t.Errorf("%s: a call is left out, and nothing is reported", name)
		}
	}
}

// TestWrongValuesEndTheRun changes what a contender decodes. Each change ends the run.
func TestWrongValuesEndTheRun(t *testing.T) {
	srv := httptest.NewServer(newServer())
	t.Cleanup(srv.Close)
	var issues []handIssue
	read := newHand(srv.URL+"/n500", transport()).issues
	if err := read(t.Context(), &digest{check: func(item any) error {
		issues = append(issues, *item.(*handIssue))
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func([]handIssue) []handIssue{
		"":                    func(all []handIssue) []handIssue { return all },
		"item 250 differs":    func(all []handIssue) []handIssue { all[250].Title += "x"; return all },
		"item 499 differs":    func(all []handIssue) []handIssue { all[499].Weight = new(99); return all },
		"item 0 differs":      func(all []handIssue) []handIssue { all[0].CreatedAt = all[0].CreatedAt.Add(1); return all },
		"item 7 differs":      func(all []handIssue) []handIssue { all[7], all[8] = all[8], all[7]; return all },
		"499 items, not 500":  func(all []handIssue) []handIssue { return all[:499] },
		"500 is one too many": func(all []handIssue) []handIssue { return append(all, all[0]) },
		"0 items, not 500":    func([]handIssue) []handIssue { return nil },
	} {
		all := change(slices.Clone(issues))
		err := race{sent: someIssues(500)}.agree(t.Context(), contender{handName, func(_ context.Context, d *digest) error {
			for i := range all {
				d.item(&all[i])
			}
			return nil
		}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q is not the error: %.200v", want, err)
		}
	}
}

// TestDocumentsHaveTheFigures compares FIGURES.md, docs/speed.md and the README with the saved
// figures, and the missed targets with their reasons, in both directions.
func TestDocumentsHaveTheFigures(t *testing.T) {
	if err := checkDocuments(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(allPath)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := reasons(string(text))
	if err != nil {
		t.Fatal(err)
	}
	files, err := loadAll()
	if err != nil {
		t.Fatal(err)
	}
	var missed []string
	for i, file := range files {
		missed = append(missed, missedTargets(releases[i], file.Lines)...)
	}
	slices.Sort(rows)
	slices.Sort(missed)
	if !slices.Equal(rows, missed) {
		t.Errorf("FIGURES.md has the reasons of\n%s\nand the missed targets are\n%s", strings.Join(rows, "\n"), strings.Join(missed, "\n"))
	}
	if _, err := reasons(reasonsHeader + "| go1.26 | w | x | forge |  |\n\n"); err == nil {
		t.Error("an empty reason is accepted")
	}
}

// TestMissed checks the comparison of figures with targets, and with older figures.
func TestMissed(t *testing.T) {
	l := line{Work: "w", What: "x", Forge: 10, Hand: 20, V2: 12, Peer: 100, Limit: 10, HandTarget: 0.5, V2Target: 0.9, PeerTarget: 0.1}
	worse, noisy, other := l, l, l
	worse.Forge = 11
	if len(l.missed()) > 0 || !slices.Equal(worse.missed(), []string{"forge", "by hand", "v2", "peer"}) {
		t.Error(l.missed(), worse.missed())
	}
	if found := regressions([]line{l}, []line{worse}); len(found) > 0 {
		t.Error("10 % is not a regression:", found)
	}
	worse.Forge, noisy.Forge, noisy.Noisy, other.Forge, other.What = 12, 12, true, 12, "y"
	found := regressions([]line{l}, []line{worse, noisy, other})
	if len(found) != 3 || found[0] != "w, x: forge / by hand is 0.6, and was 0.5" {
		t.Error(found)
	}
}
