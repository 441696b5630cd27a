// Package screen takes a terminal for a view that fills it and gives it back
// as it was. It knows nothing of what is shown.
//
// A Screen belongs to one goroutine; its events come from others that it
// starts itself.
package screen
