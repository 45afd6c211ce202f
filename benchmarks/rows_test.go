package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/forge-sdk/forge-go"
)

// TestExactRows checks that each row has its own name, and that -exact runs rows that exist.
func TestExactRows(t *testing.T) {
	var names []string
	for _, r := range rows() {
		if slices.Contains(names, r.name) {
			t.Errorf("two rows have the name %q", r.name)
		}
		names = append(names, r.name)
	}
	for _, name := range exactRows {
		if !slices.Contains(names, name) {
			t.Errorf("there is no row %q", name)
		}
	}
}

// TestMixedCalls compares the mixed calls of all contenders with the documents, and checks that a
// call that is left out ends the run.
func TestMixedCalls(t *testing.T) {
	srv := httptest.NewServer(newServer())
	t.Cleanup(srv.Close)
	r := race{sent: mixedDocuments()}
	for _, c := range mixedContenders(srv.URL+"/n1", 2) {
		if err := r.agree(t.Context(), []contender{{c.name, c.calls.once}}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for i := range c.calls {
			left := slices.Delete(slices.Clone(c.calls), i, i+1)
			if err := r.agree(t.Context(), []contender{{c.name, left.once}}); err == nil {
				t.Errorf("%s: call %d is left out, and nothing is reported", c.name, i)
			}
		}
	}
}

// TestUnknownFieldsAreCompared checks that the comparison sees a field that no client knows.
func TestUnknownFieldsAreCompared(t *testing.T) {
	sent := documents{"unknown", 1, func(int) string { return withUnknown() }}
	other := fromMemory(strings.Replace(sent.at(0), `"id":2,"name":"platform"`, `"id":2,"name":"other"`, 1))
	for name, read := range map[string]func(*memory) work{
		forgeName: func(m *memory) work { return newOurs(noServer, forge.WithHTTPClient(&http.Client{Transport: m})).issue },
		handName:  func(m *memory) work { return newHand(noServer, m).kept },
	} {
		if err := (race{sent: sent}).agree(t.Context(), []contender{{name, read(fromDocuments(sent))}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		err := (race{sent: sent}).agree(t.Context(), []contender{{name, read(other)}})
		if err == nil || !strings.Contains(err.Error(), ".unknown_2.name is") {
			t.Errorf("%s: the other name is not the error: %v", name, err)
		}
	}
}

// TestFailing checks that a call that succeeds, or fails in another way, ends the run.
func TestFailing(t *testing.T) {
	fails := func(text string) error {
		c := contender{handName, failing(newHand(noServer, newInTurn(reply{status: http.StatusNotFound})).conditional, text)}
		return race{}.agree(t.Context(), []contender{c})
	}
	if err := fails("404"); err != nil {
		t.Error(err)
	}
	if err := fails("429"); err == nil {
		t.Error("another status is not reported")
	}
	succeeds := failing(func(context.Context, *digest) error { return nil }, "404")
	if err := (race{}).agree(t.Context(), []contender{{handName, succeeds}}); err == nil {
		t.Error("success is not reported")
	}
}
