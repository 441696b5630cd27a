//go:build !linux

package sockets

import "errors"

// Lister lists listening sockets. It exists only on Linux.
type Lister struct{}

// Open returns errors.ErrUnsupported.
func Open() (*Lister, error) { return nil, errors.ErrUnsupported }

// Close returns nil.
func (*Lister) Close() error { return nil }

// List returns errors.ErrUnsupported.
func (*Lister) List() (Set, error) { return nil, errors.ErrUnsupported }
