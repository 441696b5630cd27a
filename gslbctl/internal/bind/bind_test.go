package bind_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/gslbctl/internal/bind"
)

// FuzzRead searches for files that crash the import, or that it converts to records that it cannot read.
func FuzzRead(f *testing.F) {
	f.Add("@ SOA ns h ( 20260101000001 ; serial\n 2 3 4 5 )\n@ NS ns\n$INCLUDE \"more\"\n", "a A 192.0.2.1\n* TXT x\n")
	f.Add("$TTL 1h\n$ORIGIN x.\n@ 5 SOA ns h 1 2 3 4 5\nb DS 1 13 2 00\n", "$INCLUDE db\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, zone, more string) {
		for name, text := range map[string]string{"db": zone, "more": more} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := bind.Read(filepath.Join(dir, "db"), "example.com.")
		if err != nil {
			return
		}
		for _, text := range r.Zones {
			parser := dns.NewZoneParser(strings.NewReader(text), "example.com.", "")
			taken := 0
			for _, ok := parser.Next(); ok; _, ok = parser.Next() {
				taken++
			}
			if parser.Err() != nil || taken != r.Taken {
				t.Errorf("%d records, %v, want %d of\n%s", taken, parser.Err(), r.Taken, text)
			}
		}
	})
}
