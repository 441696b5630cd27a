package conditions

import (
	"cmp"
	"fmt"
	"strings"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// walkOrders reports the active admin states, and the drains that agents requested.
func (j *Judge) walkOrders(to report) {
	for _, o := range j.o.View.AdminStates() {
		if !o.IsActive {
			continue
		}
		switch o.Kind {
		case api.OrderOverride:
			to(api.OverrideInForce, Place(&o), func() (string, string) {
				verdict := "unhealthy"
				if o.Healthy {
					verdict = "healthy"
				}
				return fmt.Sprintf("%s %s is overridden as %s; %s", o.Service, endpoint(&o), verdict, author(&o)),
					"gslbctl overrides clear " + argument(&o)
			})
		case api.OrderWeight:
			to(api.WeightInForce, backendOf(&o).String(), func() (string, string) { return j.describeWeight(&o) })
		case api.OrderDrain:
			to(api.DrainInForce, backendOf(&o).String(), func() (string, string) { return j.describeDrain(&o) })
		}
	}
	for b := range j.o.View.AgentDrains() {
		to(api.DrainInForce, b.ID.String(), func() (string, string) {
			if b.Source != api.SourceAgent && (b.AgentID == "" || b.AgentID != b.DeclaredAgent) {
				return b.ID.String() + " " + draining(b) + ": its agent requested the drain and has stopped since",
					"gslbctl backends list --service " + b.Service
			}
			return b.ID.String() + " " + draining(b) + ": its agent " + b.AgentID + " requests the drain",
				"gslbctl agents show " + b.AgentID
		})
	}
}

// Place returns the subject of the condition of an override.
func Place(o *registry.AdminState) string { return o.Service + " " + endpoint(o) }

// endpoint returns the address of an admin state, with its port as in the ID of a backend.
func endpoint(o *registry.AdminState) string {
	if o.Port == 0 {
		return o.Address.String()
	}
	return strings.TrimPrefix(backendOf(o).String(), o.Service+":")
}

// argument returns the backends of an admin state as an argument of gslbctl: the ID of a backend, or service:ip. An
// IPv6 address without a port has brackets, because its last group could be a port.
func argument(o *registry.AdminState) string {
	if o.Port == 0 && o.Address.Is6() {
		return o.Service + ":[" + o.Address.String() + "]"
	}
	return o.Service + ":" + endpoint(o)
}

func backendOf(o *registry.AdminState) registry.ID {
	return registry.ID{Service: o.Service, Address: o.Address, Port: o.Port}
}

// author describes the author, expiry and reason of an admin state.
func author(o *registry.AdminState) string {
	expiry := "without expiry"
	if !o.ExpiresAt.IsZero() {
		expiry = "expires " + moment(o.ExpiresAt)
	}
	text := "set by " + cmp.Or(o.CreatedBy, "an operator") + ", " + expiry
	if o.Reason != "" {
		text += ": " + o.Reason
	}
	return text
}

// noBackend is appended to the text of an admin state if no source reports its backend.
const noBackend = ", but no agent, file or API declares this backend"

func (j *Judge) describeWeight(o *registry.AdminState) (sentence, command string) {
	declared := noBackend
	if b := j.o.View.Get(backendOf(o)); b != nil {
		declared = fmt.Sprintf(" instead of %d", b.Weight)
	}
	return fmt.Sprintf("%s has the weight %d%s; %s", backendOf(o), o.Weight, declared, author(o)),
		"gslbctl weight " + argument(o) + " --clear"
}

func (j *Judge) describeDrain(o *registry.AdminState) (sentence, command string) {
	doing := "has a drain" + noBackend
	if b := j.o.View.Get(backendOf(o)); b != nil {
		doing = draining(b)
	}
	return backendOf(o).String() + " " + doing + "; " + author(o), "gslbctl undrain " + backendOf(o).String()
}

// draining describes the progress of a backend's drain.
func draining(b *registry.Backend) string {
	switch {
	case b.IsDrained():
		return "is drained since " + moment(b.DrainEndsAt)
	case b.DrainTo > 0:
		return fmt.Sprintf("drains to %.0f %% of its weight until %s", 100*b.DrainTo, moment(b.DrainEndsAt))
	}
	return "drains until " + moment(b.DrainEndsAt)
}
