//go:build race

package forge

// raceEnabled says that the race detector is on.
const raceEnabled = true
