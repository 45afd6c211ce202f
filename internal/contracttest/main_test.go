package contracttest_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Paths in the tests are relative to the module's root.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
