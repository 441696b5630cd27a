package identity

// Window refuses what it has seen before: it takes only messages that are newer than every one taken so far. An older one that
// was overtaken on the way is refused too, which does no harm, for messages carry whole state.
//
// The zero Window takes any epoch and sequence number but (0, 0). Its size does not grow.
type Window struct {
	epoch, seq uint64
}

// Newer reports whether Accept would take the message. It changes nothing, so it may be asked before the signature is checked.
func (w *Window) Newer(epoch, seq uint64) bool {
	return epoch > w.epoch || (epoch == w.epoch && seq > w.seq)
}

// Accept takes the message if it is newer and reports whether it did. It must be asked only for messages whose signature held:
// otherwise anybody could move the window past the sender.
func (w *Window) Accept(epoch, seq uint64) bool {
	if !w.Newer(epoch, seq) {
		return false
	}
	w.epoch, w.seq = epoch, seq
	return true
}

// Epoch returns the epoch of the newest message taken, 0 if there was none.
func (w *Window) Epoch() uint64 { return w.epoch }
