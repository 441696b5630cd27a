// Package publish makes the view that DNS answers from, of the configuration and of the registry's backends, and keeps
// it current. When backends change, their name alone is decided again and replaced; changes that come in bursts are
// published together. Other settings become another view by one swap, after everything that can fail has been done. The
// plan of the next view is compared with the plan in force: zones and domains that stay as they are are shared, so that
// a change costs what differs.
//
// It owns the view in force. The root makes one Publisher; the registry marks changed services, control gives it other
// settings, and dnsserver reads the view. It never answers a query, and never decides by itself who answers (package
// policy).
//
// One goroutine, Run, changes the view. All methods may be called from any goroutine; Mark and View never wait.
package publish
