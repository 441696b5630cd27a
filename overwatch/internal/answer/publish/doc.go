// Package publish builds the view that the DNS server answers from, and updates it when the configuration or backends
// change. A change of backends replaces only the answers of their name; bursts of changes are published together. New
// settings are compared with the previous plan, unchanged zones and domains are shared, and the next view replaces the
// current view after all steps that can fail, so that the cost depends on the difference.
//
// The package owns the current view. The root creates one Publisher; the registry marks changed services, control
// passes settings, and dnsserver reads the view. The package must not answer queries or make routing decisions (package
// policy does).
//
// One goroutine, Run, changes the view. All methods are safe for concurrent use; Mark and View do not block.
package publish
