// Package doccommands has the test that runs each shell command of the README, the guides, the
// examples and the doc comments.
package doccommands
