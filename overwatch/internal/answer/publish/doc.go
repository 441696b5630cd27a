// Package publish turns the configuration and what the registry knows into the view that DNS answers from, and keeps it
// current: a name whose backends changed is decided again and replaced alone, changes that come in bursts are taken together,
// and other zones or domains become another view by one swap, after everything that can fail has been done.
//
// One goroutine, Run, changes the view. All methods may be called from any goroutine; Mark and View never wait.
package publish
