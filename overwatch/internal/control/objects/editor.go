package objects

import (
	"time"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
)

// Editor creates and changes objects for requests, under the configuration of the node. Every field is required. Its
// methods may be called concurrently.
type Editor struct {
	// Config returns the current configuration.
	Config func() *config.Config
	// Defined returns the definitions of the API and the file with the API settings applied.
	Defined func() (*definitions.Set, *config.Config)
	// View holds the backends.
	View *registry.View
	// Signs reports whether the node signs answers.
	Signs bool
	// Now returns the time.
	Now func() time.Time
}

// Condition validates the condition of a request against the object before the change (If-Match, If-None-Match). The
// argument is the object, or nil if there is none. A nil Condition accepts any state.
type Condition func(object any) error

// Holds returns an error unless the object satisfies the condition.
func (c Condition) Holds(object any) error {
	if c == nil {
		return nil
	}
	return c(object)
}

// ErrOfFile rejects a change of an object that the configuration file declares.
var ErrOfFile = fault.Invalidf("it comes from the configuration file, which a document cannot change: take it out of " +
	"one of them")
