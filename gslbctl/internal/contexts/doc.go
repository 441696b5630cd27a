// Package contexts stores the clusters that gslbctl knows by name: their nodes and credentials. They are in one YAML
// file of the user. Package cli calls it. It never sends a request.
package contexts
