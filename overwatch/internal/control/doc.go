// Package control puts changes into force: those of the configuration file, those that the API makes, and those of the
// geolocation database. Whatever changes what is answered or checked goes through here, one change after the other.
//
// It owns the configuration in force (State), which is the file joined with what the API has defined, and tells the
// parts of the node what follows from it (Plane). It owns no goroutine but the caller's; any number may call it. The
// root starts it, the API and signals use it. It never answers a query, and never serves half of a change.
package control
