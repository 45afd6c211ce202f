package main

import (
	"os"
	"regexp"
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

// TestReadmeFigures checks that a row of the README has one figure of speed, and that its proof names
// the release of client-go that it is compared with.
func TestReadmeFigures(t *testing.T) {
	text, number := readText(t, readmePath), regexp.MustCompile(`\d+(\.\d+)?`)
	for _, r := range readmeRows {
		_, row, _ := strings.Cut(text, "| "+r.title+" |")
		row, _, _ = strings.Cut(row, "\n")
		cells := strings.Split(strings.TrimSuffix(row, " |"), " | ")
		if len(cells) != 3 || len(number.FindAllString(cells[0]+cells[1], -1)) != 1 || !strings.Contains(cells[2], "client-go v") {
			t.Errorf("%s: not one figure and what it is compared with: %q", r.title, cells)
		}
	}
}

// TestMissedTargetsHaveReasons compares the missed targets in the saved figures with the table in
// docs/speed.md, in both directions.
func TestMissedTargetsHaveReasons(t *testing.T) {
	files, err := loadAll()
	if err != nil {
		t.Fatal(err)
	}
	missing, obsolete, err := reasonsToEdit(readText(t, speedPath), files)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range missing {
		t.Errorf("docs/speed.md has no reason for: %s", row)
	}
	for _, row := range obsolete {
		t.Errorf("docs/speed.md has a reason for a target that is not missed: %s", row)
	}
}

// TestReasonsToEdit checks which rows the table of missed targets has to gain and to lose.
func TestReasonsToEdit(t *testing.T) {
	slow := savedLine{Work: "w", What: "x", Forge: 2, Limit: 1}
	fast := savedLine{Work: "w", What: "x", Forge: 1, Limit: 1}
	const first, second, both = "| go1.26 | w | x | forge |", "| go1.27 | w | x | forge |", "| both | w | x | forge |"
	for _, c := range []struct {
		of                      [2]savedLine
		rows, missing, obsolete []string
	}{
		{of: [2]savedLine{fast, fast}},
		{[2]savedLine{fast, fast}, []string{first}, nil, []string{first}},
		{[2]savedLine{slow, fast}, nil, []string{first}, nil},
		{[2]savedLine{slow, fast}, []string{first}, nil, nil},
		{[2]savedLine{slow, fast}, []string{both}, []string{first}, []string{both}},
		{[2]savedLine{slow, slow}, nil, []string{both}, nil},
		{[2]savedLine{slow, slow}, []string{both}, nil, nil},
		{[2]savedLine{slow, slow}, []string{first, second}, nil, nil},
	} {
		text := reasonsHeader
		for _, row := range c.rows {
			text += row + " a reason |\n"
		}
		files := []figuresFile{{Lines: []savedLine{c.of[0]}}, {Lines: []savedLine{c.of[1]}}}
		missing, obsolete, err := reasonsToEdit(text+"\n\n", files)
		if err != nil || !slices.Equal(missing, c.missing) || !slices.Equal(obsolete, c.obsolete) {
			t.Errorf("%v: missing %q, obsolete %q, %v", c, missing, obsolete, err)
		}
	}
	if _, err := reasons(reasonsHeader + first + "  |\n\n"); err == nil {
		t.Error("an empty reason is accepted")
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
