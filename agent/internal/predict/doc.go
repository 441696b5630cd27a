// Package predict implements the early warnings before checks fail. It measures the CPU, the memory and the error rate,
// and sets a warning for the backends that should receive less traffic. Package agent runs it and reports its warnings.
//
// The package sends no messages. Overwatch nodes decide how much traffic moves. Run owns all mutable state; any
// goroutine may call Warnings and Figures.
package predict
