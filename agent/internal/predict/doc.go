// Package predict owns the early warnings that come before checks fail. It watches the processor,
// the memory and the rate of errors, and sets a warning for the backends that should get less
// traffic. Package agent runs it and reports its warnings.
//
// It never sends anything and never decides how much traffic moves: overwatch nodes do. Run owns
// all mutable state; any goroutine may call Warnings and Figures.
package predict
