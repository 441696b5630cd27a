package cli

import (
	"net"
	"strconv"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// endpoint formats an address and a port. An IPv6 address has brackets.
func endpoint(address string, port int) string {
	return net.JoinHostPort(address, strconv.Itoa(port))
}

func number(n int) render.Cell { return render.C(strconv.Itoa(n)) }

func orNone(text string) render.Cell {
	if text == "" {
		text = render.None
	}
	return render.C(text)
}

// statusCell returns a cell with a status in its color.
func statusCell[S ~string](status S) render.Cell {
	tone := render.Bad
	switch string(status) {
	case string(api.EffectiveHealthy), string(api.AgentOnline), string(api.GossipAlive):
		tone = render.Good
	case string(api.EffectiveStale), string(api.ServiceDegraded), string(api.CheckUnknown), string(api.AgentPending),
		string(api.GossipSuspect):
		tone = render.Warn
	}
	return render.Cell{Text: string(status), Tone: tone}
}

// healthyOf returns a cell with the number of healthy objects and the total.
func healthyOf(healthy, total int) render.Cell {
	cell := render.Cell{Text: strconv.Itoa(healthy) + "/" + strconv.Itoa(total), Tone: render.Good}
	switch {
	case total == 0:
		cell.Tone = render.Plain
	case healthy == 0:
		cell.Tone = render.Bad
	case healthy < total:
		cell.Tone = render.Warn
	}
	return cell
}

// verdictCell returns a cell with the health that a source reports for a backend.
func verdictCell(healthy *bool) render.Cell {
	switch {
	case healthy == nil:
		return render.C(render.None)
	case *healthy:
		return render.Cell{Text: "healthy", Tone: render.Good}
	default:
		return render.Cell{Text: "unhealthy", Tone: render.Bad}
	}
}

func latencyCell(ms *float64) render.Cell {
	if ms == nil {
		return render.C(render.None)
	}
	return render.C(strconv.FormatFloat(*ms, 'f', 1, 64) + " ms")
}
