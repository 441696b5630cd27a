//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
)

// result contains the samples of a server by round, or the reason why there are none.
type result struct {
	samples []sample
	skipped string
}

// spread returns the median of a figure over the rounds, and its extremes.
func (r *result) spread(of func(sample) float64) (median, least, most float64) {
	var values []float64
	for _, s := range r.samples {
		values = append(values, of(s))
	}
	return spread(values)
}

// spread returns the median and the extremes of values, which it sorts. values must not be empty.
func spread(values []float64) (median, least, most float64) {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2, values[0], values[n-1]
}

// ratio returns the median ratio of a figure of this server to the same figure of another server, over the rounds of
// both.
func (r *result) ratio(to *result, of func(sample) float64) string {
	if to == nil || len(to.samples) == 0 {
		return "-"
	}
	var pairs []float64
	for i := range min(len(r.samples), len(to.samples)) {
		pairs = append(pairs, of(r.samples[i])/of(to.samples[i]))
	}
	median, _, _ := spread(pairs)
	return fmt.Sprintf("%.2f", median)
}

// report writes a table, as Markdown.
func report(w io.Writer, names int, base string, order []string, results map[string]*result) {
	fmt.Fprintf(w, "\n### %d names\n\n", names)
	fmt.Fprintf(w,
		"| server | CPU us/query, median (min-max) | ratio to %s | queries/s, median (min-max) | MiB | ready ms | failed "+
			"| other cores |\n", base)
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, name := range order {
		r := results[name]
		if r == nil {
			continue
		}
		if len(r.samples) == 0 {
			fmt.Fprintf(w, "| %s | %s |||||||\n", name, r.skipped)
			continue
		}
		saturated := func(s sample) float64 { return s.cpu }
		cpu, cpuLeast, cpuMost := r.spread(saturated)
		rate, rateLeast, rateMost := r.spread(func(s sample) float64 { return s.rate })
		memory, _, _ := r.spread(func(s sample) float64 { return s.memory })
		ready, _, _ := r.spread(func(s sample) float64 { return s.ready })
		other, _, _ := r.spread(func(s sample) float64 { return s.other })
		failed := uint64(0)
		for _, s := range r.samples {
			failed += s.failed
		}
		fmt.Fprintf(w, "| %s | %.2f (%.2f-%.2f) | %s | %.0f (%.0f-%.0f) | %.0f | %.0f | %d | %.2f |\n", name, cpu, cpuLeast,
			cpuMost,
			r.ratio(results[base], saturated), rate, rateLeast, rateMost, memory, ready, failed, other)
	}
}

// reportSteady writes a table of the cost per answer at each steady rate, as Markdown.
func reportSteady(w io.Writer, rates []float64, base string, order []string, results map[string]*result) {
	if len(rates) == 0 {
		return
	}
	fmt.Fprintf(w, "\n| server | queries a second | CPU us/query, median (min-max) | ratio to %s |\n|---|---|---|---|\n",
		base)
	for i, rate := range rates {
		cost := func(s sample) float64 { return s.steady[i] }
		for _, name := range order {
			if r := results[name]; r != nil && len(r.samples) > 0 {
				median, least, most := r.spread(cost)
				fmt.Fprintf(w, "| %s | %.0f | %.1f (%.1f-%.1f) | %s |\n", name, rate, median, least, most,
					r.ratio(results[base], cost))
			}
		}
	}
}
