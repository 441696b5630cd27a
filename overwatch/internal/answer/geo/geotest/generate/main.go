// Command generate writes a large geolocation database for measurements: `generate -networks 1000000 FILE`.
package main

import (
	"flag"
	"fmt"
	"os"

	"gslb.internal/overwatch/internal/answer/geo/geotest"
)

func main() {
	networks := flag.Int("networks", 1_000_000, "the number of networks")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: generate [-networks N] FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(flag.Arg(0), geotest.Database(geotest.Large(*networks)), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
