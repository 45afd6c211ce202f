package contracttest_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Paths in the tests are relative to the module's root. The go command would look for them in this
// folder, and print a cached result after a guide has changed: it learns of a new directory only
// after TestMain. Without a log of the files it caches nothing.
func TestMain(m *testing.M) {
	flag.Parse()
	for _, err := range []error{os.Chdir("../.."), flag.Set("test.testlogfile", "")} {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}
