package forgetest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

const (
	diffContext = 3
	maxDiffed   = 1 << 20 // larger blobs and longer comparisons have an empty diff, as if a diff limit was reached; raw diffs have no limit
)

// edit is one line of a line-by-line comparison; mark is ' ', '-' or '+'.
type edit struct {
	mark byte
	line string
}

// diffForm is the form of diffs: unidiff adds the file names before the hunks, raw removes the
// limits.
type diffForm struct{ unidiff, raw bool }

// render returns the change as a diff item (Document 1 §2.4).
func (c fileChange) render(form diffForm) *Document {
	d := NewDocument("Diff").Set("old_path", c.oldPath).Set("new_path", c.newPath).Set("a_mode", nil).Set("b_mode", "0").
		Set("new_file", c.old.blob == nil).Set("deleted_file", c.new.blob == nil).Set("renamed_file", c.oldPath != c.newPath)
	if c.old.blob != nil {
		d.Set("a_mode", c.old.mode)
	}
	if c.new.blob != nil {
		d.Set("b_mode", c.new.mode)
	}
	text, fits := c.text(form.raw)
	if form.unidiff && text != "" && !strings.HasPrefix(text, "Binary") {
		text = fmt.Sprintf("--- %s\n+++ %s\n", fileLabel("a/", c.oldPath, c.old), fileLabel("b/", c.newPath, c.new)) + text
	}
	return d.Set("diff", text).Set("too_large", !fits)
}

func fileLabel(prefix, path string, e treeEntry) string {
	if e.blob == nil {
		return "/dev/null"
	}
	return prefix + path
}

// text returns the unified diff without file names. fits is false if the diff is empty because of a
// limit; raw diffs have no limit.
func (c fileChange) text(raw bool) (text string, fits bool) {
	before, beforeFits := c.old.content(raw)
	after, afterFits := c.new.content(raw)
	switch {
	case !beforeFits || !afterFits:
		return "", false
	case bytes.IndexByte(before, 0) >= 0 || bytes.IndexByte(after, 0) >= 0:
		return fmt.Sprintf("Binary files a/%s and b/%s differ\n", c.oldPath, c.newPath), true
	}
	edits := compareLines(lines(before), lines(after))
	if edits == nil && raw {
		edits = replaceLines(lines(before), lines(after))
	}
	if edits == nil {
		return "", bytes.Equal(before, after)
	}
	return hunks(edits), true
}

// content returns the content of the entry's file. all removes the size limit.
func (e treeEntry) content(all bool) (data []byte, fits bool) {
	switch {
	case e.blob == nil:
		return nil, true
	case e.blob.length() > maxDiffed && !all:
		return nil, false
	}
	var content bytes.Buffer
	_ = e.blob.copyTo(&content)
	return content.Bytes(), true
}

func lines(data []byte) (list []string) {
	for line := range strings.Lines(string(data)) {
		list = append(list, line)
	}
	return list
}

// count returns the number of added and deleted lines.
func (c fileChange) count() (additions, deletions int64) {
	before, beforeFits := c.old.content(false)
	after, afterFits := c.new.content(false)
	if !beforeFits || !afterFits {
		return 0, 0
	}
	for _, e := range compareLines(lines(before), lines(after)) {
		switch e.mark {
		case '+':
			additions++
		case '-':
			deletions++
		}
	}
	return additions, deletions
}

// compareLines returns a shortest edit, by the longest common subsequence; nil if nothing differs
// or the files are too long.
func compareLines(a, b []string) []edit {
	if len(a)*len(b) > maxDiffed {
		return nil
	}
	width := len(b) + 1
	common := make([]int32, (len(a)+1)*width) // [i][j]: length of the longest common subsequence of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	var edits []edit
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			edits = append(edits, edit{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[(i+1)*width+j] >= common[i*width+j+1]:
			edits = append(edits, edit{'-', a[i]})
			i++
		default:
			edits = append(edits, edit{'+', b[j]})
			j++
		}
	}
	return edits
}

// replaceLines returns the edit for files that are too long to compare. It replaces all lines
// between the common first lines and the common last lines.
func replaceLines(a, b []string) []edit {
	var edits []edit
	same := func(lines []string) {
		for _, line := range lines {
			edits = append(edits, edit{' ', line})
		}
	}
	first := 0
	for first < len(a) && first < len(b) && a[first] == b[first] {
		first++
	}
	last := 0 // from the end
	for last < len(a)-first && last < len(b)-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	same(a[:first])
	for _, line := range a[first : len(a)-last] {
		edits = append(edits, edit{'-', line})
	}
	for _, line := range b[first : len(b)-last] {
		edits = append(edits, edit{'+', line})
	}
	same(a[len(a)-last:])
	return edits
}

// hunks writes the edits in unified form.
func hunks(edits []edit) string {
	var out strings.Builder
	oldLine, newLine := 1, 1 // of edits[i]
	for i := 0; i < len(edits); {
		if edits[i].mark == ' ' {
			oldLine, newLine, i = oldLine+1, newLine+1, i+1
			continue
		}
		from := max(0, i-diffContext)
		to := hunkEnd(edits, i)
		lead := i - from
		oldCount, newCount := writeHunk(&out, edits[from:to], oldLine-lead, newLine-lead)
		oldLine, newLine, i = oldLine-lead+oldCount, newLine-lead+newCount, to
	}
	return out.String()
}

// hunkEnd returns the end of the hunk that starts at a changed line. Changes with at most twice
// diffContext unchanged lines between them are in one hunk.
func hunkEnd(edits []edit, i int) int {
	end := i
	for ; i < len(edits) && i-end <= 2*diffContext; i++ {
		if edits[i].mark != ' ' {
			end = i + 1
		}
	}
	return min(len(edits), end+diffContext)
}

func writeHunk(out *strings.Builder, edits []edit, oldLine, newLine int) (oldCount, newCount int) {
	for _, e := range edits {
		if e.mark != '+' {
			oldCount++
		}
		if e.mark != '-' {
			newCount++
		}
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(oldLine, oldCount), span(newLine, newCount))
	for _, e := range edits {
		out.WriteByte(e.mark)
		out.WriteString(e.line)
		if !strings.HasSuffix(e.line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
	return oldCount, newCount
}

func span(line, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", line-1)
	case 1:
		return strconv.Itoa(line)
	}
	return fmt.Sprintf("%d,%d", line, count)
}
