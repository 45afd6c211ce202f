//go:build go1.27

package forge

import (
	jsonv2 "encoding/json/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/forge-sdk/forge-go/internal/racetest"
)

// Values survive encoding/json/v2, too: it calls the same methods.
func TestMarshalV2(t *testing.T) {
	racetest.SkipSequential(t)
	marshal := func(v any) ([]byte, error) { return jsonv2.Marshal(v) }
	unmarshal := func(data []byte, v any) error { return jsonv2.Unmarshal(data, v) }
	types, count := decodedTypes(t), 0
	for _, text := range fixtures(t) {
		for _, typ := range types {
			if readsLittle(typ, text) {
				continue
			}
			assert.Empty(t, survives(typ, text, marshal, unmarshal), "%s: %.200s", typ, text)
			count++
		}
	}
	assert.Greater(t, count, 100)
}
