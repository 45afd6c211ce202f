package forgetest

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// testHeader names the retry test that a request belongs to.
const testHeader = "X-Forgetest-Test"

// retryTest has the faults of one test, which act only on requests with its id, so that tests that
// run at the same time share a server.
type retryTest struct {
	faults map[string][]*instruction // by route, in order
}

// instruction is one fault for one request. Those of the storage testbench of Google Cloud have its
// names.
type instruction struct {
	name  string
	fault *routeFault
}

// instructions are the names without a number.
var instructions = map[string]func() Fault{
	"drop-request":            DropRequest,
	"return-reset-connection": DropRequest,
	"drop-response":           DropResponse,
	"return-broken-stream":    func() Fault { return TruncateBody(1) },
	"truncate-body":           func() Fault { return TruncateBody(1) },
	"sign-in-page":            SignInPage,
	"refuse-keyset":           RefuseKeyset,
	"invalid-json":            InvalidJSON,
}

// numbered are the names with a number: a status, or seconds.
var numbered = map[string]func(n int) Fault{
	"return-":            Status,
	"override-status-":   OverrideStatus,
	"too-many-requests-": func(n int) Fault { return TooManyRequests(time.Duration(n) * time.Second) },
	"delay-request-":     func(n int) Fault { return Delay(time.Duration(n) * time.Second) },
	"delay-response-":    func(n int) Fault { return HeaderDelay(time.Duration(n) * time.Second) },
}

var instructionNumber = regexp.MustCompile(`^([a-z-]+-)(\d{1,3})$`)

// parseInstruction returns the fault that an instruction names.
func parseInstruction(name string) (Fault, error) {
	if f, known := instructions[name]; known {
		return f(), nil
	}
	if parts := instructionNumber.FindStringSubmatch(name); parts != nil && numbered[parts[1]] != nil {
		n, _ := strconv.Atoi(parts[2])
		if f := numbered[parts[1]](n); f.status == 0 || f.status >= 100 {
			return f, nil
		}
	}
	known := slices.Sorted(maps.Keys(instructions))
	for prefix := range numbered {
		known = append(known, prefix+"N")
	}
	slices.Sort(known)
	return Fault{}, fmt.Errorf("no instruction %q: known are %s", name, strings.Join(known, ", "))
}

func (s *Server) unknownRoute(name string) error {
	return fmt.Errorf("no route %q: did you mean %q? Routes are spelled as in the contract", name, s.routes.nearest(name))
}

func (c *control) createTest(r *http.Request) (any, error) {
	var body struct {
		Instructions map[string][]string `json:"instructions"`
		Transport    string              `json:"transport"` // of the testbench, which has two
	}
	if err := decodeControl(r, &body); err != nil {
		return nil, err
	}
	id := strings.ToLower(rand.Text())
	test := &retryTest{faults: map[string][]*instruction{}}
	for _, route := range slices.Sorted(maps.Keys(body.Instructions)) {
		if route != "*" && !c.server.routes.isRoute(route) {
			return nil, c.server.unknownRoute(route)
		}
		for _, name := range body.Instructions[route] {
			f, err := parseInstruction(name)
			if err != nil {
				return nil, err
			}
			own := f.only
			f.only = func(r *http.Request) bool { return r.Header.Get(testHeader) == id && (own == nil || own(r)) }
			test.faults[route] = append(test.faults[route], &instruction{name, &routeFault{route: canonical(route), Fault: f.Times(1)}})
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tests[id] = test
	for _, route := range slices.Sorted(maps.Keys(test.faults)) { // "*" first
		for _, one := range test.faults[route] {
			c.server.faults.add(one.fault)
		}
	}
	return c.describe(id, test), nil
}

// describe returns what is left of a test, and what its requests did.
func (c *control) describe(id string, test *retryTest) any {
	left, requests, applied := map[string][]string{}, map[string]int{}, map[string]int{}
	for route, list := range test.faults {
		for _, one := range list {
			if !c.server.faults.isUsed(one.fault) {
				left[route] = append(left[route], one.name)
			}
		}
	}
	for _, r := range c.matching(func(r Request) bool { return r.Header.Get(testHeader) == id }) {
		requests[r.Route]++
		if r.Applied {
			applied[r.Route]++
		}
	}
	return map[string]any{"id": id, "instructions": left, "completed": len(left) == 0, "requests": requests, "applied": applied}
}

func (c *control) test(r *http.Request) (string, *retryTest, error) {
	id := r.PathValue("id")
	test := c.tests[id]
	if test == nil {
		return id, nil, &controlError{http.StatusNotFound, fmt.Sprintf("no retry test %q: POST %sretry_test makes one", id, controlPath)}
	}
	return id, test, nil
}

func (c *control) showTest(r *http.Request) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, test, err := c.test(r)
	if err != nil {
		return nil, err
	}
	return c.describe(id, test), nil
}

func (c *control) deleteTest(r *http.Request) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, test, err := c.test(r)
	if err != nil {
		return nil, err
	}
	for _, list := range test.faults {
		for _, one := range list {
			c.server.faults.remove(one.fault)
		}
	}
	delete(c.tests, id)
	return nil, nil
}
