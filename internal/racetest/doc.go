// Package racetest tells tests whether the race detector is on, which slows them and allocates.
package racetest
