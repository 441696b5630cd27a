// Package registry owns the backends of this node: declarations, agent reports, results of own checks, admin states,
// and the effective status that package status derives from them.
//
// Package gossip passes agent reports, validation passes results of own checks, control/changes passes admin states,
// and control and inventory pass declarations. StatusStore receives the state that must survive a restart. The package
// does no I/O itself. It must not know DNS names, routing or HTTP.
//
// Concurrency: the goroutine of Run makes all changes. A command is sent to it and returns after the change is
// published. Readers use View, which never locks or waits. A published *Backend or slice is immutable.
package registry
