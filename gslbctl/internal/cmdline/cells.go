package cmdline

import (
	"time"

	"gslb.internal/gslbctl/internal/render"
)

func (a *App) Ago(at *time.Time) render.Cell { return render.C(render.Ago(at, a.Now())) }

func (a *App) Moment(at *time.Time, none string) render.Cell {
	if at == nil {
		return render.C(none)
	}
	return render.C(render.Until(*at, a.Now()))
}
