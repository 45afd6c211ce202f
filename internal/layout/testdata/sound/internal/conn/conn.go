// Package conn imports the standard library only.
package conn

import "time"

// Limit is a time.
type Limit time.Duration
