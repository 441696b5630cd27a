// Package publish turns the configuration and what the registry knows into the view that DNS answers from, and keeps it
// current: a name whose backends changed is decided again and replaced alone, changes that come in bursts are taken
// together, and other settings become another view by one swap, after everything that can fail has been done. Such a
// view costs what differs from the one before: a plan is compared with the plan in force, zones and domains that stay
// are taken over.
//
// One goroutine, Run, changes the view. All methods may be called from any goroutine; Mark and View never wait.
package publish
