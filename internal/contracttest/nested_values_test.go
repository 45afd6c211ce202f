package contracttest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
)

type node struct {
	Next any `json:"next"`
}

// TestNestedValues sends values that contain themselves, or are nested so deeply that an encoder that
// follows them ends the process. The call is a *ValidationError, also with SkipValidation and for a
// diff, and nothing is sent.
func TestNestedValues(t *testing.T) {
	object, two, list, pointer, ring := map[string]any{}, map[string]any{}, []any{nil}, new(any), &node{}
	object["self"], two["a"], two["b"], list[0], *pointer = object, two, two, list, pointer
	ring.Next = map[int][]*node{1: {ring}}
	values := map[string]any{"map": object, "two ways": two, "list": list, "pointer": pointer, "ring": ring, "array": [1]any{list}}
	for name, wrap := range map[string]func(any) any{
		"deep map": func(v any) any { return map[string]any{"a": v} }, "deep list": func(v any) any { return []any{v} },
		"deep struct": func(v any) any { return &node{v} }, "deep pointer": func(v any) any { return &v },
	} {
		values[name] = any("end")
		for range 20_000 {
			values[name] = wrap(values[name])
		}
	}
	client := silentClient(t)
	for name, value := range values {
		extra := map[string]any{"name": value}
		settings := &forge.UpdateSettingsOptions{Extra: extra}
		for _, opts := range [][]forge.RequestOption{nil, {forge.SkipValidation()}} {
			_, update := client.Settings.Update(t.Context(), settings, opts...)
			_, group := client.ResourceGroups.Update(t.Context(), forge.ID(1), "x", &forge.UpdateResourceGroupOptions{Extra: extra}, opts...)
			for _, err := range []error{
				update, group, settings.Diff().Err(),
				client.Do(t.Context(), forge.Call{Method: http.MethodPost, Route: "/x", Body: value}, nil, opts...),
				client.Integrations.Set(t.Context(), forge.ID(1), &forge.EmailsOnPushOptions{Extra: extra}, opts...),
				client.Integrations.Set(t.Context(), forge.ID(1), &forge.CustomIntegration{Slug: "x", Params: extra}, opts...),
			} {
				var invalid *forge.ValidationError
				require.ErrorAs(t, err, &invalid, name)
			}
		}
	}
}
