//go:build !race

package forgetest

const raceEnabled = false
