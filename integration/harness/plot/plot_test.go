package plot // inside: it uses chartWidth and its like

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestChart_IsOneDocumentWithEverythingInItsField(t *testing.T) {
	for _, c := range []Chart{
		{Title: "a < b", X: "names", Y: "MiB", LogX: true,
			Lines: []Line{{"some", []Point{{10, 3}, {100_000, 812}}}, {"more", []Point{{10, 0}, {999, 4}}}}},
		{Title: "one", Lines: []Line{{"flat", []Point{{0, 0}, {7, 0.25}}}}},
		{Title: "nothing", Lines: []Line{{"zero", []Point{{0, 0}}}}},
	} {
		text := c.SVG()
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", c.Title, err, text)
			}
			element, ok := token.(xml.StartElement)
			if !ok || element.Name.Local != "circle" {
				continue
			}
			var x, y float64
			for _, a := range element.Attr {
				switch a.Name.Local {
				case "cx":
					fmt.Sscan(a.Value, &x)
				case "cy":
					fmt.Sscan(a.Value, &y)
				}
			}
			if !(x >= leftMargin && x <= chartWidth-rightMargin && y >= topMargin && y <= chartHeight-bottomMargin) {
				t.Errorf("%s: a point is at %v, %v", c.Title, x, y)
			}
		}
	}
	for v, want := range map[float64]string{0.25: "0.25", 812: "812", 1000: "1 000", 100_000: "100 000"} {
		if got := number(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
}
