package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// unlisted returns the names that have a line in the files of before but not in those of now, and
// that the changelog does not list as breaking.
func unlisted(before, now, changelog, release string) ([]string, error) {
	names, err := removed(before, now)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(changelog)
	if err != nil {
		return nil, err
	}
	section := breakingSections(string(text), release)
	return slices.DeleteFunc(names, func(name string) bool { return mentions(section, name) }), nil
}

// removed returns the exported names whose lines were removed or changed, sorted. The fields and
// methods of a type that no longer exists are not listed one by one.
func removed(before, now string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(before, "*.txt"))
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, file := range files {
		old, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		current, err := os.ReadFile(filepath.Join(now, filepath.Base(file)))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		if err := compare(names, lines(old), lines(current)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

func compare(names map[string]bool, old, current []string) error {
	exists := map[string]bool{}
	for _, line := range current {
		f, err := parse(line)
		if err != nil {
			return err
		}
		exists[f.owner] = true
	}
	for _, line := range old {
		f, err := parse(line)
		switch {
		case err != nil:
			return err
		case slices.Contains(current, line) || f.isFree():
		case exists[f.owner]:
			names[f.name()] = true
		default:
			names[f.pkg+f.owner] = true
		}
	}
	return nil
}

// feature is the subject of a line.
type feature struct {
	pkg    string // "forgetest.", or empty for the root package
	owner  string // the name in the package
	member string // the field or method, if any
	rest   string
}

var featureLine = regexp.MustCompile(`^pkg (\w+), (?:(?:const|func|var|type) (\w+)|method \(\*?(\w+)\) (\w+))(.*)$`)

var memberOfType = regexp.MustCompile(`^(?:\[.*\])? (?:struct|interface), (?:embedded \*?(?:\w+\.)?)?(\w+)`)

func parse(line string) (feature, error) {
	m := featureLine.FindStringSubmatch(line)
	if m == nil {
		return feature{}, fmt.Errorf("not a line of an api file: %q", line)
	}
	f := feature{pkg: m[1] + ".", owner: m[2] + m[3], member: m[4], rest: m[5]}
	if f.pkg == "forge." {
		f.pkg = ""
	}
	if m := memberOfType.FindStringSubmatch(f.rest); m != nil {
		f.member = m[1]
	}
	return f, nil
}

// isFree reports whether the line may change without breaking a caller: the library's version,
// which each release changes, and the marks of unexported fields and methods.
func (f feature) isFree() bool {
	return f.pkg+f.owner == "Version" || strings.HasSuffix(f.rest, ", unexported fields") || strings.HasSuffix(f.rest, ", unexported methods")
}

// name returns the name as the changelog spells it: "IssuesService.List", "forgetest.Server.Fail".
func (f feature) name() string {
	if f.member == "" {
		return f.pkg + f.owner
	}
	return f.pkg + f.owner + "." + f.member
}

func lines(text []byte) []string {
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// breakingSections returns the text below each "### Breaking" above the section of the release that
// is compared with; "" selects the whole changelog. When a release is made, its changes are no
// longer below "Unreleased" and have no tag yet.
func breakingSections(changelog, release string) string {
	if release != "" {
		changelog, _, _ = strings.Cut(changelog, "\n## "+release+"\n")
	}
	var breaking strings.Builder
	for _, section := range strings.Split(changelog, "\n### Breaking\n")[1:] {
		section, _, _ = strings.Cut(section, "\n## ")
		section, _, _ = strings.Cut(section, "\n### ")
		breaking.WriteString(section + "\n")
	}
	return breaking.String()
}

// mentions reports whether the text contains the name itself, not a longer one that begins or ends
// with it.
func mentions(text, name string) bool {
	return regexp.MustCompile(`(?:^|[^\w.]|\bforge\.)` + regexp.QuoteMeta(name) + `(?:$|[^\w.]|\.(?:$|\W))`).MatchString(text)
}
