package zone

import (
	"maps"
	"slices"
)

// signatureIndex finds signatures by what they cover. Most names have a handful, for which a list is enough: with 100
// 000 names, maps would take 50 MiB more.
type signatureIndex struct {
	few  []*Signature
	many map[string]*Signature // all of them, once there are more than few is for
}

// fewContents bounds the signatures that are kept in a list.
const fewContents = 16

// get finds the signature of a content, nil if there is none.
func (x *signatureIndex) get(content string) *Signature {
	if x.many != nil {
		return x.many[content]
	}
	if i := x.index(content); i >= 0 {
		return x.few[i]
	}
	return nil
}

func (x *signatureIndex) index(content string) int {
	return slices.IndexFunc(x.few, func(sig *Signature) bool { return sig.content == content })
}

// put adds a signature, in place of another with its content.
func (x *signatureIndex) put(sig *Signature) {
	if x.many == nil {
		if i := x.index(sig.content); i >= 0 {
			x.few[i] = sig
			return
		}
		if len(x.few) < fewContents {
			x.few = append(x.few, sig)
			return
		}
		x.many = make(map[string]*Signature, 2*fewContents)
		for _, sig := range x.few {
			x.many[sig.content] = sig
		}
		x.few = nil
	}
	x.many[sig.content] = sig
}

// remove removes those for which gone is true.
func (x *signatureIndex) remove(gone func(*Signature) bool) {
	x.few = slices.DeleteFunc(x.few, gone)
	maps.DeleteFunc(x.many, func(_ string, sig *Signature) bool { return gone(sig) })
}

// all appends all of them.
func (x *signatureIndex) all(into []*Signature) []*Signature {
	return slices.AppendSeq(append(into, x.few...), maps.Values(x.many))
}

func (x *signatureIndex) len() int { return len(x.few) + len(x.many) }
