package contracttest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
)

type node struct {
	Next any `json:"next"`
}

// nestedValues are values that contain themselves, or are nested so deeply that an encoder that
// follows them can end the process.
func nestedValues() map[string]any {
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
	return values
}

// sendersOfValues send options of the types with a field that takes any value.
func sendersOfValues(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) map[string]func(options any) error {
	senders := map[string]func(any) error{
		"Call": func(o any) error {
			call := *o.(*forge.Call)
			call.Method, call.Route = http.MethodPost, "/x"
			return c.Do(ctx, call, nil, opts...)
		},
		"SetRegistryVisibilityOptions": func(o any) error {
			_, err := c.Registry.SetVisibility(ctx, forge.ID(1), o.(*forge.SetRegistryVisibilityOptions), opts...)
			return err
		},
		"UpdateApprovalSettingsOptions": func(o any) error {
			_, err := c.ApprovalSettings.UpdateForGroup(ctx, forge.ID(1), o.(*forge.UpdateApprovalSettingsOptions), opts...)
			return err
		},
		"UpdateResourceGroupOptions": func(o any) error {
			_, err := c.ResourceGroups.Update(ctx, forge.ID(1), "x", o.(*forge.UpdateResourceGroupOptions), opts...)
			return err
		},
		"UpdateRunnerOptions": func(o any) error {
			_, err := c.Runners.Update(ctx, 1, o.(*forge.UpdateRunnerOptions), opts...)
			return err
		},
		"UpdateSettingsOptions": func(o any) error {
			_, err := c.Settings.Update(ctx, o.(*forge.UpdateSettingsOptions), opts...)
			return err
		},
	}
	for _, kind := range append(integrationTypes(), reflect.TypeFor[*forge.CustomIntegration]()) {
		senders[kind.Elem().Name()] = func(o any) error {
			return c.Integrations.Set(ctx, forge.ID(1), o.(forge.IntegrationOptions), opts...)
		}
	}
	return senders
}

// TestNestedValues puts each such value into each field of options that takes any value. The call is
// a *ValidationError, also with SkipValidation and for a diff, and nothing is sent.
func TestNestedValues(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s was sent", r.Method, r.URL) }))
	defer server.Close()
	places := 0
	for _, options := range [][]forge.Option{nil, {forge.WithVocabulary(forge.GitLab)}} {
		c, err := forge.NewClient(server.URL, options...)
		require.NoError(t, err)
		for _, opts := range [][]forge.RequestOption{nil, {forge.SkipValidation()}} {
			senders := sendersOfValues(t.Context(), c, opts...)
			for typeName, kind := range zeroTypes(t) {
				if kind.Kind() != reflect.Struct {
					continue
				}
				for field := range kind.Fields() {
					anyMap := field.Type == reflect.TypeFor[map[string]any]()
					if !field.IsExported() || !anyMap && field.Type != reflect.TypeFor[any]() {
						continue
					}
					require.NotNil(t, senders[typeName], "%s has a field for any value, and no sender", typeName)
					for name, value := range nestedValues() {
						places++
						o := reflect.New(kind)
						if slug := o.Elem().FieldByName("Slug"); slug.IsValid() {
							slug.SetString("x")
						}
						if anyMap {
							value = map[string]any{"name": value}
						}
						o.Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(value))
						var invalid *forge.ValidationError
						assert.ErrorAs(t, senders[typeName](o.Interface()), &invalid, "%s.%s: %s", typeName, field.Name, name)
						if options != nil && opts != nil { // all names are known, and no rule of the options applies
							assert.ErrorContains(t, invalid, "contains itself", "%s.%s: %s", typeName, field.Name, name)
						}
						if settings, is := o.Interface().(*forge.UpdateSettingsOptions); is {
							assert.ErrorAs(t, settings.Diff().Err(), &invalid, "%s.%s: %s", typeName, field.Name, name)
						}
					}
				}
			}
		}
	}
	assert.Greater(t, places, 500)
}
