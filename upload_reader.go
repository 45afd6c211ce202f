package forge

import (
	"context"
	"errors"
	"io"

	"github.com/forge-sdk/forge-go/internal/task"
)

// bodyPump reads a request body that runs the caller's code, a reader or Progress, in a separate
// goroutine: net/http waits for a read of the body, even if the attempt has ended. A panic in that
// code is raised again in the goroutine of the call. In a goroutine of net/http it would end the
// process.
type bodyPump struct {
	*io.PipeReader
	ctx      context.Context //nolint:containedctx // of the attempt; the pump is its body
	source   *task.Task[struct{}]
	progress func(done, total int64)
	done     int64
	total    int64
	// reporting has a value while progress runs, and at the end, so that it is not called anymore.
	reporting chan struct{}
}

// errBodyCrashed is what the transport reads after a panic in the caller's code.
var errBodyCrashed = errors.New("the reader of the body, or Progress, did not return")

// openBody opens a body for one attempt, whose context is ctx. The transport itself reads the
// library's own readers, which do not block, and no others.
func openBody(ctx context.Context, b *payload, progress func(done, total int64)) (io.ReadCloser, error) {
	body, err := b.open()
	if _, own := body.(ownContent); err != nil || own && progress == nil {
		return body, err
	}
	read, write := io.Pipe()
	p := &bodyPump{PipeReader: read, ctx: ctx, progress: progress, total: b.size, reporting: make(chan struct{}, 1)}
	p.source = task.Go(func() (struct{}, error) { return struct{}{}, p.run(body, write) })
	return p, nil
}

// run copies the body to the transport until the attempt ends.
func (p *bodyPump) run(body io.ReadCloser, to *io.PipeWriter) error {
	stop := context.AfterFunc(p.ctx, func() { _ = to.CloseWithError(p.ctx.Err()) })
	defer stop()
	defer to.CloseWithError(errBodyCrashed) // the first error of a pipe stays
	defer body.Close()
	buffer := copyBuffers.Get()
	defer copyBuffers.Put(buffer, (*copyBuffer).memory)
	for {
		n, err := body.Read(buffer[:])
		if n < 0 || n > len(buffer) {
			n, err = 0, errors.New("the reader of the body returned an impossible number of bytes")
		}
		p.report(n)
		if _, closed := to.Write(buffer[:n]); err != nil || closed != nil {
			return to.CloseWithError(err) // io.EOF is the end
		}
	}
}

// report calls progress before the transport gets the bytes, so that the last report comes before
// the response.
func (p *bodyPump) report(n int) {
	if n == 0 || p.progress == nil {
		return
	}
	select {
	case p.reporting <- struct{}{}:
		defer func() { <-p.reporting }()
		p.done += int64(n)
		p.progress(p.done, p.total)
	default: // silenced
	}
}

// finish ends the reports at the end of the exchange. It waits for one that is running, but not
// beyond the end of the attempt. It raises the panic that crashed is the error of.
func (p *bodyPump) finish(readErr error) {
	select {
	case p.reporting <- struct{}{}:
	default:
		select {
		case p.reporting <- struct{}{}:
		case <-p.ctx.Done():
		}
	}
	if errors.Is(readErr, errBodyCrashed) {
		p.source.Wait(context.Background())
		_, _ = p.source.Result()
	}
}
