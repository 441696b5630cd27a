// Package plot draws lines over an axis as SVG, for the plots of the documentation.
package plot

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Chart is a plot of lines over one axis, as SVG for light and dark pages; README.md shows examples.
type Chart struct {
	Title, X, Y string
	LogX        bool // logarithmic, between powers of ten
	Lines       []Line
}

// Line is a named line through points, in the order of x.
type Line struct {
	Name   string
	Points []Point
}

// Point is x and y.
type Point = [2]float64

// The size of a chart and of the margins around its field, in pixels.
const (
	chartWidth, chartHeight   = 640, 360
	leftMargin, rightMargin   = 64, 16
	topMargin, bottomMargin   = 56, 48
	fieldWidth, fieldHeight   = chartWidth - leftMargin - rightMargin, chartHeight - topMargin - bottomMargin
	mostTicks, legendPerEntry = 6, 150
)

// lineColours are distinguishable with color vision deficiency (Okabe and Ito), and visible on white and black.
var lineColours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"}

const chartStyle = `text{font:12px sans-serif;fill:#333}.title{font-size:14px;font-weight:bold}` +
	`.grid{stroke:#888;stroke-opacity:.3}` +
	`.axis{stroke:#888}polyline{fill:none;stroke-width:2}@media(prefers-color-scheme:dark){text{fill:#ddd}}`

// SVG returns the document.
func (c *Chart) SVG() string {
	var b strings.Builder
	xs, ys := c.scale(func(p Point) float64 { return p[0] }, c.LogX), c.scale(func(p Point) float64 { return p[1] }, false)
	left, top := float64(leftMargin), float64(topMargin)
	atX := func(v float64) float64 { return left + xs.part(v)*fieldWidth }
	atY := func(v float64) float64 { return top + (1-ys.part(v))*fieldHeight }
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" `+
			`role="img"><title>%s</title><style>%s</style>`+"\n",
		chartWidth, chartHeight, chartWidth, chartHeight, html.EscapeString(c.Title), chartStyle)
	fmt.Fprintf(&b, `<text class="title" x="%d" y="20">%s</text>`+"\n", leftMargin, html.EscapeString(c.Title))
	for _, v := range ys.ticks {
		fmt.Fprintf(&b,
			`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			leftMargin, chartWidth-rightMargin, atY(v), atY(v), leftMargin-6, atY(v)+4, number(v))
	}
	for _, v := range xs.ticks {
		fmt.Fprintf(&b,
			`<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			atX(v), atX(v), topMargin, chartHeight-bottomMargin, atX(v), chartHeight-bottomMargin+16, number(v))
	}
	fmt.Fprintf(&b, `<line class="axis" x1="%d" x2="%d" y1="%d" y2="%d"/>`+"\n", leftMargin, chartWidth-rightMargin,
		chartHeight-bottomMargin, chartHeight-bottomMargin)
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text><text x="%d" y="%d">%s</text>`+"\n",
		leftMargin+fieldWidth/2, chartHeight-10, html.EscapeString(c.X), 4, topMargin-8, html.EscapeString(c.Y))
	for i, l := range c.Lines {
		colour := lineColours[i%len(lineColours)]
		var points []string
		for _, p := range l.Points {
			points = append(points, fmt.Sprintf("%.1f,%.1f", atX(p[0]), atY(p[1])))
			if len(l.Points) <= 12 {
				fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, atX(p[0]), atY(p[1]), colour)
			}
		}
		fmt.Fprintf(&b, `<polyline stroke="%s" points="%s"/>`+"\n", colour, strings.Join(points, " "))
		at := chartWidth - rightMargin - (len(c.Lines)-i)*legendPerEntry
		fmt.Fprintf(&b,
			`<line x1="%d" x2="%d" y1="36" y2="36" stroke="%s" stroke-width="3"/><text x="%d" y="40">%s</text>`+"\n", at, at+18,
			colour, at+24, html.EscapeString(l.Name))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// scale is an axis: its range, and the values of its labels. Its method part maps values to 0 to 1.
type scale struct {
	low, high float64
	log       bool
	ticks     []float64
}

func (s *scale) part(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log10(v), math.Log10(low), math.Log10(high)
	}
	return (v - low) / (high - low)
}

// scale returns an axis for a coordinate of all points. The axis is linear from 0, or logarithmic between powers of
// ten.
func (c *Chart) scale(of func(Point) float64, log bool) *scale {
	low, high := math.Inf(1), 0.0
	for _, l := range c.Lines {
		for _, p := range l.Points {
			low, high = min(low, of(p)), max(high, of(p))
		}
	}
	s := &scale{high: max(high, math.SmallestNonzeroFloat32), log: log}
	if log {
		s.low, s.high = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(max(high, low*1.01))))
		for v := s.low; v <= s.high*1.001; v *= 10 {
			s.ticks = append(s.ticks, v)
		}
		return s
	}
	step := math.Pow(10, math.Floor(math.Log10(s.high/mostTicks)))
	for _, factor := range []float64{2, 5, 10} {
		if s.high/step <= mostTicks {
			break
		}
		step = math.Pow(10, math.Floor(math.Log10(s.high/mostTicks))) * factor
	}
	s.high = math.Ceil(s.high/step) * step
	for i := 0; float64(i)*step <= s.high*1.001; i++ {
		s.ticks = append(s.ticks, float64(i)*step)
	}
	return s
}

// number formats a value with a blank between thousands.
func number(v float64) string {
	text := fmt.Sprintf("%.3g", v)
	if v < 1000 {
		return text
	}
	text = fmt.Sprintf("%.0f", v)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + " " + text[at:]
	}
	return text
}
