package main

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocumentsHaveTheFigures compares docs/speed.md and the README with the saved figures.
func TestDocumentsHaveTheFigures(t *testing.T) {
	if err := checkDocuments(); err != nil {
		t.Error(err)
	}
}

// reasons returns the rows of the table of missed targets, without the reason, which is not empty.
func reasons(t *testing.T, text string) map[string]bool {
	t.Helper()
	_, text, _ = strings.Cut(text, "| release | work | figure | compared with | reason |\n|---|---|---|---|---|\n")
	text, _, found := strings.Cut(text, "\n\n")
	if !found {
		t.Fatal("docs/speed.md has no table of missed targets")
	}
	rows := map[string]bool{}
	for row := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(row), " |"), " | ")
		if len(cells) < 5 {
			continue
		}
		if strings.TrimSpace(cells[4]) == "" {
			t.Errorf("no reason in %s", row)
		}
		rows[strings.Join(cells[:4], " | ")+" |"] = true
	}
	return rows
}

// TestMissedTargetsHaveReasons compares the missed targets in the saved figures with the table in
// docs/speed.md, in both directions. A row of "both" is for both releases.
func TestMissedTargetsHaveReasons(t *testing.T) {
	rows := reasons(t, readText(t, speedPath))
	used := map[string]bool{}
	for _, release := range releases {
		file, err := load(release)
		if err != nil {
			t.Fatal(err)
		}
		for _, missed := range missedTargets(release, linesOf(file.Lines)) {
			both := strings.Replace(missed, release, "both", 1)
			if used[missed], used[both] = true, true; !rows[missed] && !rows[both] {
				t.Errorf("docs/speed.md has no reason for: %s", missed)
			}
		}
	}
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		if !used[row] {
			t.Errorf("docs/speed.md has a reason for a target that is not missed: %s", row)
		}
	}
}

// TestMissed checks the comparison of figures with targets, and with older figures.
func TestMissed(t *testing.T) {
	l := line{
		work: "w", what: "x", show: showCount, ours: 10, hand: 20, v2: 12, peer: 100, floor: 9,
		limit: 10, handTarget: 0.5, v2Target: 0.9, peerTarget: 0.1, floorTarget: 1.2,
	}
	if missed := l.missed(); len(missed) > 0 {
		t.Error(missed)
	}
	worse := l
	worse.ours = 11
	if missed := worse.missed(); !slices.Equal(missed, []string{"forge", "by hand", "v2", "peer", "floor"}) {
		t.Error(missed)
	}
	if found := regressions([]line{l}, []line{worse}); len(found) > 0 {
		t.Error("10 % is not a regression:", found)
	}
	worse.ours = 12
	if found := regressions([]line{l}, []line{worse}); len(found) != 4 || !strings.Contains(found[0], "w, x: forge / by hand is 0.6, and was 0.5") {
		t.Error(found)
	}
	noisy := worse
	noisy.noisy = true
	if found := regressions([]line{l}, []line{noisy}); len(found) > 0 {
		t.Error(found)
	}
	other := worse
	other.what = "y"
	if found := regressions([]line{l}, []line{other}); len(found) > 0 {
		t.Error(found)
	}
	back := linesOf(savedLines([]line{l}))[0]
	if back != l {
		t.Errorf("saved as %+v", back)
	}
}
