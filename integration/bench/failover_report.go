//go:build linux

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// failoverResults contains the times of all rounds, by contestant and fault, in seconds. A failover that did not end is
// +Inf.
type failoverResults struct {
	faults []fault
	names  []string
	took   map[string][][]float64
}

func newFailoverResults(faults []fault) *failoverResults {
	return &failoverResults{faults: faults, took: map[string][][]float64{}}
}

// add adds the times of a round.
func (r *failoverResults) add(all []*contestant) {
	for _, c := range all {
		if r.took[c.name] == nil {
			r.names = append(r.names, c.name)
			r.took[c.name] = make([][]float64, len(r.faults))
		}
		for k, one := range c.cases {
			seconds := one.took.Seconds()
			if one.took < 0 {
				seconds = math.Inf(1)
			}
			k %= len(r.faults)
			r.took[c.name][k] = append(r.took[c.name][k], seconds)
		}
	}
}

// print writes the tables.
func (r *failoverResults) print() {
	fmt.Printf("\nTime from the fault to the last answer with the failed address, in seconds: median (min-max) of "+
		"%d. Resolution %s. -: not within %s.\n\n| server |", r.samples(), failoverPace, failoverBound)
	for _, f := range r.faults {
		fmt.Printf(" %s |", f.name)
	}
	fmt.Print("\n|---|")
	for range r.faults {
		fmt.Print("---|")
	}
	fmt.Println()
	for _, name := range r.names {
		fmt.Printf("| %s |", name)
		for _, values := range r.took[name] {
			fmt.Printf(" %s |", failoverCell(values))
		}
		fmt.Println()
	}
	if r.faults[0].name == faults[0].name {
		r.printOutages()
	}
}

// samples returns the number of measurements of each cell.
func (r *failoverResults) samples() int { return len(r.took[r.names[0]][0]) }

func failoverCell(values []float64) string {
	median, least, most := spread(values)
	if math.IsInf(median, 1) {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.2f-%.2f)", median, least, most)
}

// printOutages writes the mean outage of clients behind a population of resolvers after the first fault, kill -9.
func (r *failoverResults) printOutages() {
	fmt.Printf("\nMean outage of a client after kill -9, in seconds, behind %d simulated resolvers: %.0f %% honor the "+
		"TTL, %.0f %% cache for at least %s, %.0f %% cache for %s. Half of the answers before the failover have the failed "+
		"address.\n\n| server |", population, 100*honest, 100*raised, raisedTTL, 100*(1-honest-raised), overTTL)
	for _, ttl := range outageTTLs {
		fmt.Printf(" TTL %s |", ttl)
	}
	fmt.Print("\n|---|---|---|---|\n")
	for _, name := range r.names {
		median, _, _ := spread(r.took[name][0])
		fmt.Printf("| %s |", name)
		for _, ttl := range outageTTLs {
			if math.IsInf(median, 1) {
				fmt.Print(" - |")
				continue
			}
			fmt.Printf(" %.1f |", meanOutage(median, ttl))
		}
		fmt.Println()
	}
}

// The simulated population of resolvers.
const (
	population = 20000
	honest     = 0.80 // fraction that honors the TTL
	raised     = 0.15 // fraction that caches for at least raisedTTL
	raisedTTL  = 30 * time.Second
	overTTL    = 5 * time.Minute
)

var outageTTLs = []time.Duration{5 * time.Second, 30 * time.Second, time.Minute}

// meanOutage returns the mean time for which resolvers return a failed address to their clients, in seconds. The server
// answers with the address for the given time after the failure. Resolvers refresh at random phases.
func meanOutage(detection float64, ttl time.Duration) float64 {
	random := rand.New(rand.NewPCG(1, 1)) // the same population for each server
	var total float64
	for range population {
		cached := ttl.Seconds()
		switch part := random.Float64(); {
		case part >= honest+raised:
			cached = overTTL.Seconds()
		case part >= honest:
			cached = max(cached, raisedTTL.Seconds())
		}
		for refresh := -random.Float64() * cached; refresh < detection; refresh += cached {
			if random.Float64() < 0.5 {
				total += refresh + cached - max(refresh, 0)
			}
		}
	}
	return total / population
}
