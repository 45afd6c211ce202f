package forgetest

import "runtime"

// RaceEnabled reports to external tests whether the race detector is on.
const RaceEnabled = raceEnabled

// HeapInUse returns the heap memory in use after a garbage collection.
func HeapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
