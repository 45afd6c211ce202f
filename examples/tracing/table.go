package main

import (
	"fmt"
	"io"
	"slices"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

// writeTable writes the histograms as text: a line for each set of attributes, with the number of
// attempts and their mean duration.
func writeTable(out io.Writer, metrics metricdata.ResourceMetrics) {
	for _, scope := range metrics.ScopeMetrics {
		for _, m := range scope.Metrics {
			histogram, ok := m.Data.(metricdata.Histogram[float64])
			if !ok {
				continue
			}
			fmt.Fprintf(out, "\n%s (%s)\n", m.Name, m.Unit)
			lines := make([]string, 0, len(histogram.DataPoints))
			for _, point := range histogram.DataPoints {
				lines = append(lines, tableLine(point))
			}
			slices.Sort(lines) // the SDK does not order them
			for _, line := range lines {
				fmt.Fprintln(out, line)
			}
		}
	}
}

func tableLine(point metricdata.HistogramDataPoint[float64]) string {
	method, _ := point.Attributes.Value(semconv.HTTPRequestMethodKey)
	template, _ := point.Attributes.Value(semconv.URLTemplateKey)
	status, _ := point.Attributes.Value(semconv.HTTPResponseStatusCodeKey)
	return fmt.Sprintf("  %-56s %3d  %-10s mean %.4f", method.AsString()+" "+template.AsString(), status.AsInt64(),
		demo.Count(int(point.Count), "attempt"), point.Sum/float64(point.Count))
}
