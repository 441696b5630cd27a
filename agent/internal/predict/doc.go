// Package predict warns before checks fail: it looks at the load of the processor, at memory and at how many checks fail,
// and says for which backends traffic should become less.
//
// It does not send anything and does not decide how much less: overwatch nodes do. Run owns everything that changes;
// Warnings and Figures may be called by any goroutine.
package predict
