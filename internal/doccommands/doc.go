// Package doccommands checks each shell command of the README, the guides and the examples.
package doccommands
