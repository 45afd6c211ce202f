package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// display shows the progress of the backup.
type display interface {
	// start shows that a project is being saved.
	start(project string) task
	// close ends the display.
	close()
}

// task is a project on the display.
type task interface {
	// report shows how much was read. total is -1 if the server does not send it.
	report(done, total int64)
	// end shows the result, or the error.
	end(result string, err error)
}

// newDisplay returns bars for a terminal, and lines for any other output.
func newDisplay(out io.Writer, projects int) display {
	if f, ok := out.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return newBars(out, projects)
		}
	}
	return &lines{out: out}
}

// lines writes one line for each project when it has ended.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lines) start(project string) task { return line{l, project} }
func (l *lines) close()                    {}

// Write writes one line at a time.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

type line struct {
	out     io.Writer
	project string
}

func (l line) report(int64, int64) {}

func (l line) end(result string, err error) {
	if err != nil {
		result = "FAILED: " + err.Error()
	}
	fmt.Fprintf(l.out, "%-28s %s\n", l.project, result)
}

// bars shows how much of each archive was read, and a bar for all of them. The server does not send
// the size of an archive. Finished projects become lines above the bars.
type bars struct {
	progress *mpb.Progress
	all      *mpb.Bar
}

func newBars(out io.Writer, projects int, options ...mpb.ContainerOption) *bars {
	progress := mpb.New(append(options, mpb.WithOutput(out), mpb.WithWidth(40))...)
	all := progress.AddBar(int64(projects), mpb.BarPriority(projects), mpb.PrependDecorators(name("all")),
		mpb.AppendDecorators(decor.CountersNoUnit("%d of %d")))
	return &bars{progress, all}
}

func name(text string) decor.Decorator {
	return decor.Name(text, decor.WC{W: 28, C: decor.DindentRight})
}

func (b *bars) start(project string) task {
	bar := b.progress.New(0, mpb.SpinnerStyle().PositionLeft(), mpb.BarWidth(1), mpb.BarRemoveOnComplete(), mpb.PrependDecorators(name(project)),
		mpb.AppendDecorators(decor.Current(decor.SizeB1024(0), "% .1f"), decor.AverageSpeed(decor.SizeB1024(0), "  % .1f")))
	return &running{line{b.progress, project}, b, bar}
}

func (b *bars) close() { b.progress.Wait() }

// running is a project with a spinner.
type running struct {
	line
	bars *bars
	bar  *mpb.Bar
}

func (r *running) report(done, _ int64) { r.bar.SetCurrent(done) }

func (r *running) end(result string, err error) {
	r.line.end(result, err)
	r.bar.SetTotal(-1, true)
	r.bars.all.Increment()
}
