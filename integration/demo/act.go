package demo

import (
	"context"
	"slices"
	"time"

	"gslb.internal/integration/harness"
)

// fallen is a program that an action has stopped, with the function that restarts it.
type fallen struct {
	what string
	back func(context.Context) (*incident, error)
}

// director stops and restarts programs of the scene. It stores the stopped programs in order. One goroutine uses it.
type director struct {
	scene *scene
	down  []fallen
}

// killBackend kills the first running backend, or returns nil if none is running.
func (d *director) killBackend() (*incident, error) {
	for _, r := range d.scene.replicas {
		if !r.Running() {
			continue
		}
		at, err := r.Kill()
		if err != nil {
			return nil, err
		}
		d.down = append(d.down, fallen{r.Name, func(ctx context.Context) (*incident, error) {
			if err := r.Start(); err != nil {
				return nil, err
			}
			if err := r.Serving(ctx); err != nil {
				return nil, err
			}
			at := time.Now()
			return &incident{r.Name + " serves again", func() finding { return d.scene.arrival(r, at) }}, nil
		}})
		return &incident{"kill -9 " + r.Name, func() finding { return d.scene.departure(r, at) }}, nil
	}
	return nil, nil
}

// killAgent kills the last running agent. Its backend continues, because the loss of an agent changes no answer.
// killBackend starts with the first backend, so that the two functions rarely affect the same backend.
func (d *director) killAgent() (*incident, error) {
	for _, r := range slices.Backward(d.scene.replicas) {
		if r.agent == nil || !r.agent.Running() {
			continue
		}
		at, err := r.agent.Kill()
		if err != nil {
			return nil, err
		}
		d.down = append(d.down, fallen{r.agent.Name, func(context.Context) (*incident, error) {
			at := time.Now()
			if err := r.agent.Start(); err != nil {
				return nil, err
			}
			return &incident{r.agent.Name + " started again", func() finding { return d.scene.reunion(r, at) }}, nil
		}})
		stale := map[*harness.Node]time.Duration{}
		return &incident{"kill -9 " + r.agent.Name, func() finding { return d.scene.silence(r, at, stale) }}, nil
	}
	return nil, nil
}

// stopNode stops the first overwatch node that runs.
func (d *director) stopNode() (*incident, error) {
	for _, n := range d.scene.nodes {
		if !n.Running() {
			continue
		}
		at := time.Now()
		if err := n.Stop(); err != nil {
			return nil, err
		}
		d.down = append(d.down, fallen{n.Name, func(context.Context) (*incident, error) {
			at := time.Now()
			if err := n.Start(); err != nil {
				return nil, err
			}
			return &incident{n.Name + " started again", func() finding { return d.scene.comeback(n, at) }}, nil
		}})
		return &incident{"SIGTERM " + n.Name, func() finding { return d.scene.handover(n, at) }}, nil
	}
	return nil, nil
}

// bringBack restarts the last stopped program. It returns nil if all programs are running.
func (d *director) bringBack(ctx context.Context) (*incident, error) {
	if len(d.down) == 0 {
		return nil, nil
	}
	last := d.down[len(d.down)-1]
	d.down = d.down[:len(d.down)-1]
	return last.back(ctx)
}
