// Command nodes draws the plots of overwatch/docs/scale.md: the cost of additional nodes for a node, by the number of
// nodes.
//
//	nodes -out integration/bench/plots
//
// It simulates replication request by request, between sites around the world, with the rules of the program and
// measured costs. Key exchange, checks and heartbeats have negligible queues: their results are their rates multiplied
// by the measured costs. The same seed results in the same plots. The command prints the values as Markdown.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"gslb.internal/integration/harness/plot"
)

func main() {
	out := flag.String("out", "integration/bench/plots", "directory of the plots")
	seed := flag.Uint64("seed", 1, "of the sites' places and the changes' times")
	flag.Parse()
	charts := map[string]plot.Chart{}
	drawReplication(charts, *seed)
	drawRates(charts)
	for name, c := range charts {
		if err := os.WriteFile(filepath.Join(*out, name), []byte(c.SVG()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "scale:", err)
			os.Exit(1)
		}
	}
}

// sizes returns the numbers of nodes of the clusters.
func sizes() []int { return []int{2, 3, 5, 8, 12, 16, 24, 32, 48, 64, 100} }
