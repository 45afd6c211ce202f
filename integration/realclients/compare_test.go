package realclients

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// comparison states what a client may omit.
type comparison struct {
	// typed clients have no field for some keys, and zero values for keys that a response omits or
	// that are null.
	typed bool
	// part compares only the expected keys.
	part bool
}

// normal returns a value as it is decoded from JSON.
func normal(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return parse(t, text)
}

// differences lists where the result of a client differs from the expected one.
func (c comparison) differences(at string, want, saw any) []string {
	switch wanted := want.(type) {
	case map[string]any:
		if seen, ok := saw.(map[string]any); ok {
			return c.objects(at, wanted, seen)
		}
	case []any:
		seen, ok := saw.([]any)
		if ok && len(seen) == len(wanted) {
			var found []string
			for i := range wanted {
				found = append(found, c.differences(fmt.Sprintf("%s[%d]", at, i), wanted[i], seen[i])...)
			}
			return found
		}
		if ok {
			return []string{fmt.Sprintf("%s: saw %d records of %d", at, len(seen), len(wanted))}
		}
	case string:
		if seen, ok := saw.(string); ok && sameText(wanted, seen) {
			return nil
		}
	case nil:
		if saw == nil || c.typed && empty(saw) {
			return nil
		}
	default:
		if want == saw {
			return nil
		}
	}
	if c.typed && empty(want) && empty(saw) {
		return nil
	}
	return []string{fmt.Sprintf("%s: saw %v, the store has %v", at, short(saw), short(want))}
}

func (c comparison) objects(at string, want, saw map[string]any) (found []string) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		seen, has := saw[key]
		switch {
		case has:
			found = append(found, c.differences(at+"."+key, want[key], seen)...)
		case !c.typed:
			found = append(found, fmt.Sprintf("%s.%s: not seen, the store has %v", at, key, short(want[key])))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(saw)) {
		if _, has := want[key]; !has && !c.part && (!c.typed || !empty(saw[key])) {
			found = append(found, fmt.Sprintf("%s.%s: saw %v, the response has no such key", at, key, short(saw[key])))
		}
	}
	return found
}

// sameText treats different forms of a time as equal.
func sameText(a, b string) bool {
	if a == b {
		return true
	}
	first, ok := instant(a)
	second, also := instant(b)
	return ok && also && first.Equal(second)
}

// empty reports whether a value is that of a typed client for an absent key.
func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		return !v
	case float64:
		return v == 0
	case string:
		return v == "" || strings.HasPrefix(v, "0001-01-01T00:00:00")
	case []any:
		return len(v) == 0
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(v)), func(v any) bool { return !empty(v) })
	}
	return false
}

func short(value any) string {
	text := fmt.Sprintf("%#v", value)
	return text[:min(len(text), 300)]
}

func TestComparison(t *testing.T) {
	exact, typed, part := comparison{}, comparison{typed: true}, comparison{part: true}
	record := map[string]any{"id": 1.0, "at": "2026-03-02T09:00:00.000Z", "none": nil, "list": []any{"a"}}
	require.Empty(t, exact.differences("", record, map[string]any{"id": 1.0, "at": "2026-03-02T10:00:00+01:00", "none": nil, "list": []any{"a"}}))
	for name, saw := range map[string]map[string]any{
		"another number":  {"id": 2.0},
		"another time":    {"at": "2026-03-02T09:00:01Z"},
		"a shorter list":  {"list": []any{}},
		"a key too many":  {"more": "x"},
		"a zero for it":   {"id": 0.0},
		"a null for it":   {"at": nil},
		"another element": {"list": []any{"b"}},
	} {
		changed := maps.Clone(record)
		maps.Copy(changed, saw)
		require.NotEmpty(t, exact.differences("", record, changed), name)
		require.NotEmpty(t, typed.differences("", record, changed), name)
		if name != "a key too many" {
			require.NotEmpty(t, part.differences("", record, changed), name)
		}
	}
	require.NotEmpty(t, exact.differences("", record, map[string]any{"id": 1.0}), "keys are missing")
	require.Empty(t, typed.differences("", record, map[string]any{"id": 1.0, "none": "", "more": 0.0}))
	require.Empty(t, part.differences("", map[string]any{"id": 1.0}, record))
}
