package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"image/color"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

//go:embed page.html
var pageHTML string

const (
	chartWidth = 480 // points; the page scales the chart
	barsWidth  = 22  // points; all bars of one label
	mostBars   = 15
)

// series is one bar for each label. The colors keep their contrast on white and on black, and
// differ in lightness for readers who do not see hues.
type series struct {
	Name  string
	Color color.RGBA
	value func(row) float64
	text  func(row) string
}

var (
	openIssues = []series{{"open issues", color.RGBA{0x3b, 0x82, 0xc4, 0xff},
		func(r row) float64 { return float64(r.Open) }, func(r row) string { return strconv.Itoa(r.Open) }}}
	workingTime = []series{
		{"estimate", color.RGBA{0xe0, 0xa4, 0x3a, 0xff}, func(r row) float64 { return float64(r.Estimate) }, func(r row) string { return hours(r.Estimate) }},
		{"spent", color.RGBA{0x2a, 0x8f, 0x7a, 0xff}, func(r row) float64 { return float64(r.Spent) }, func(r row) string { return hours(r.Spent) }},
	}
)

// CSS returns the color for the page's style sheet.
func (s series) CSS() template.CSS {
	return template.CSS(fmt.Sprintf("rgb(%d %d %d)", s.Color.R, s.Color.G, s.Color.B))
}

// write writes the report as a page that needs no other files.
func (r *report) write(out io.Writer) error {
	funcs := template.FuncMap{
		"hours": hours, "chart": r.chart, "open": func() []series { return openIssues }, "time": func() []series { return workingTime }, "most": func() int { return mostBars },
	}
	page, err := template.New("page").Funcs(funcs).Parse(pageHTML)
	if err != nil {
		return err
	}
	return page.Execute(out, r)
}

// chart draws horizontal bars as an SVG element. They leave space for long names of labels. The
// page's style sheet sets the color of the text, which the drawing cannot know.
func (r *report) chart(all []series) (template.HTML, error) {
	rows := slices.Clone(r.Labels[:min(len(r.Labels), mostBars)])
	slices.Reverse(rows) // the vertical axis points up
	p := plot.New()
	p.BackgroundColor = color.Transparent
	var most float64
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = fmt.Sprintf("%.22s", row.Name) // a long name would push the bars out of the chart
		for _, s := range all {
			most = max(most, s.value(row))
		}
	}
	p.NominalY(names...)
	p.X.Min, p.X.Max = 0, max(most, 1)*1.15 // space for the figures
	p.HideX()                               // the figures at the bars are more precise
	p.Y.LineStyle.Color, p.Y.Tick.Length, p.Y.Padding = color.NRGBA{0x80, 0x80, 0x80, 0x80}, 0, 0
	p.Y.Tick.Label.Font.Variant, p.Y.Tick.Label.Font.Size = "Sans", 10
	width := barsWidth / vg.Length(len(all))
	for i, s := range all {
		if err := addBars(p, rows, s, width-1, (barsWidth-width)/2-vg.Length(i)*width); err != nil {
			return "", err
		}
	}
	canvas := vgsvg.New(chartWidth, vg.Length(len(rows))*(barsWidth+8))
	p.Draw(draw.New(canvas))
	var b strings.Builder
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", err
	}
	_, svg, _ := strings.Cut(b.String(), "<svg ")
	return template.HTML(`<svg aria-hidden="true" ` + svg), nil // the table below has the same figures
}

// addBars adds the bars of a series, and their figures at the ends.
func addBars(p *plot.Plot, rows []row, s series, width, offset vg.Length) error {
	values, at := make(plotter.Values, len(rows)), plotter.XYLabels{}
	for i, row := range rows {
		values[i] = s.value(row)
		at.XYs, at.Labels = append(at.XYs, plotter.XY{X: values[i], Y: float64(i)}), append(at.Labels, s.text(row))
	}
	bars, err := plotter.NewBarChart(values, width)
	if err != nil {
		return err
	}
	bars.Horizontal, bars.Color, bars.Offset, bars.LineStyle.Width = true, s.Color, offset, 0
	figures, err := plotter.NewLabels(at)
	if err != nil {
		return err
	}
	figures.Offset = vg.Point{X: 4, Y: offset}
	for i := range figures.TextStyle {
		figures.TextStyle[i].Font.Variant, figures.TextStyle[i].Font.Size, figures.TextStyle[i].YAlign = "Sans", 9, text.YCenter
	}
	p.Add(bars, figures)
	return nil
}
