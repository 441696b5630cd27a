// Command print writes the description of itself as JSON, for the test of package buildinfo.
package main

import (
	"encoding/json"
	"log"
	"os"

	"gslb.internal/shared/buildinfo"
)

func main() {
	if err := json.NewEncoder(os.Stdout).Encode(buildinfo.Get()); err != nil {
		log.Fatal(err)
	}
}
