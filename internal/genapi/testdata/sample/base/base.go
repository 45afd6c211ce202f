// Package base has a type that the sample embeds.
package base

// Base has a field and a method.
type Base struct{ ID int64 }

// Load is not a line of the sample: Base is exported.
func (b *Base) Load() {}
