//go:build !linux

package doctor

import "context"

// The machine is examined on Linux only, where nodes run.

func clock(context.Context, Node) []Finding   { return nil }
func limits(context.Context, Node) []Finding  { return nil }
func buffers(context.Context, Node) []Finding { return nil }
func memory(context.Context, Node) []Finding  { return nil }
func disk(context.Context, Node) []Finding    { return nil }
