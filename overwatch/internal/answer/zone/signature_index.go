package zone

import (
	"maps"
	"slices"
)

// signatureIndex finds signatures by content. Most names have few signatures, which a list stores: with 100 000 names,
// maps would use 50 MiB more.
type signatureIndex struct {
	list      []*Signature
	byContent map[string]*Signature // all signatures, once list exceeds maxListed
}

// maxListed is the largest number of signatures in a list.
const maxListed = 16

// get returns the signature of a content; nil if missing.
func (x *signatureIndex) get(content string) *Signature {
	if x.byContent != nil {
		return x.byContent[content]
	}
	if i := x.indexInList(content); i >= 0 {
		return x.list[i]
	}
	return nil
}

// indexInList returns the index in list of a content; -1 if missing.
func (x *signatureIndex) indexInList(content string) int {
	return slices.IndexFunc(x.list, func(sig *Signature) bool { return sig.content == content })
}

// replace adds a signature, and replaces the signature with the same content.
func (x *signatureIndex) replace(sig *Signature) {
	if x.byContent == nil {
		if i := x.indexInList(sig.content); i >= 0 {
			x.list[i] = sig
			return
		}
		if len(x.list) < maxListed {
			x.list = append(x.list, sig)
			return
		}
		x.byContent = make(map[string]*Signature, 2*maxListed)
		for _, sig := range x.list {
			x.byContent[sig.content] = sig
		}
		x.list = nil
	}
	x.byContent[sig.content] = sig
}

// remove removes the signatures for which gone returns true.
func (x *signatureIndex) remove(gone func(*Signature) bool) {
	x.list = slices.DeleteFunc(x.list, gone)
	maps.DeleteFunc(x.byContent, func(_ string, sig *Signature) bool { return gone(sig) })
}

// appendAll appends all signatures.
func (x *signatureIndex) appendAll(into []*Signature) []*Signature {
	return slices.AppendSeq(append(into, x.list...), maps.Values(x.byContent))
}

func (x *signatureIndex) len() int { return len(x.list) + len(x.byContent) }
