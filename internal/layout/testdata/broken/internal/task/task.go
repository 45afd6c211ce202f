// Package task imports the root package.
package task

import "github.com/forge-sdk/forge-go"

// Version is that of the root package.
const Version = forge.Version
