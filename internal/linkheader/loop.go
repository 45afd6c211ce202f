package linkheader

// LoopDetector finds a loop in a sequence of links in constant memory (Brent's algorithm), a few
// links after the loop has closed. The zero value is ready to use.
type LoopDetector struct {
	mark        string
	steps, span int
}

// Seen records a link, and reports whether it was followed before.
func (d *LoopDetector) Seen(link string) bool {
	if link == d.mark {
		return true
	}
	if d.steps++; d.steps > d.span {
		d.mark, d.steps, d.span = link, 0, 2*d.span+1
	}
	return false
}
