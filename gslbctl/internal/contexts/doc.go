// Package contexts owns the clusters that gslbctl knows by name: their nodes and the credentials
// for them. They are stored in one YAML file of the user. Package cli calls it. It never makes a
// request.
package contexts
