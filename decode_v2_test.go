//go:build go1.27

package forge

import (
	"bytes"
	jsonv2 "encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// TestDecodeLikeV2 compares the decoders with encoding/json/v2, as the fuzz targets do with
// encoding/json. v2 also matches keys exactly, and it refuses ambiguous texts: an object with a
// repeated key, and invalid Unicode.
func TestDecodeLikeV2(t *testing.T) {
	texts := [][]byte{}
	for _, text := range awkward {
		texts = append(texts, []byte(text))
	}
	files, err := filepath.Glob("testdata/*/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		texts = append(texts, bytes.TrimSpace(text))
	}
	read := 0
	for _, text := range texts {
		for name, compare := range map[string]func([]byte) (string, bool){
			"issue": differV2[Issue], "issues": differV2[page100[Issue]], "merge request": differV2[MergeRequest], "commit": differV2[Commit], "blob": differV2[Blob],
			"namespace": differV2[Namespace], "todo": differV2[Todo], "settings": differV2[settingFields], "event": differV2[AuditEvent], "user": differV2[User], "integration": differV2[Integration],
		} {
			difference, compared := compare(text)
			assert.Empty(t, difference, "%s: %.200q", name, text)
			if compared {
				read++
			}
		}
	}
	assert.Greater(t, read, 500, "too few texts are compared")
}

// differV2 describes where a decoder and encoding/json/v2 differ, for a text that v2 accepts.
func differV2[T any](text []byte) (difference string, compared bool) {
	var ours, theirs T
	r := jsonread.Reader{Foreign: unmarshalForeign}
	r.Reset(bytes.Clone(text))
	err := decodeValue(&r, &ours)
	if plainDecode(text, &theirs, func(data []byte, v any) error { return jsonv2.Unmarshal(data, v) }) != nil {
		return "", false
	}
	if err != nil {
		return fmt.Sprintf("error %v, which v2 does not find", err), true
	}
	if difference = unfounded(r.Mismatches()); difference != "" {
		return difference, true
	}
	return same(reflect.ValueOf(ours), reflect.ValueOf(theirs), text), true
}

// TestForeignLikeV2 compares the first place that does not fit a caller's type with the one that
// encoding/json/v2 reports.
func TestForeignLikeV2(t *testing.T) {
	compared := 0
	for _, row := range foreignRows {
		var wrong *jsonv2.SemanticError
		if !errors.As(jsonv2.Unmarshal([]byte(row.text), new(ownPart)), &wrong) || wrong.GoType == reflect.TypeFor[ownKind]() || wrong.GoType == reflect.TypeFor[ownNote]() {
			continue // v2 reports the place of a type that has UnmarshalJSON
		}
		require.NotEmpty(t, row.want, row.text)
		assert.Equal(t, row.want[0].Pointer, string(wrong.JSONPointer), row.text)
		compared++
	}
	assert.Greater(t, compared, 6)
}
