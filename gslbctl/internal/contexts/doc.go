// Package contexts keeps the clusters that gslbctl knows by name: their nodes
// and what it takes to be let in. They live in one YAML file of the user. The
// package makes no request.
package contexts
