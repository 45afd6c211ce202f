package forge

// The services whose files are still to come.
type (
)
