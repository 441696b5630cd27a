package zone // inside: it uses maxListed, owner and signatureIndex

import (
	"fmt"
	"testing"
)

// The index is a list for few signatures and a map for many. Both find, replace and remove signatures in the same way.
func TestSignatureIndex_FindsWhatWasPutLast(t *testing.T) {
	for _, n := range []int{1, maxListed - 1, maxListed, maxListed + 1, 5 * maxListed} {
		var x signatureIndex
		content := func(i int) string { return fmt.Sprintf("content %03d", i) }
		for i := range n {
			x.replace(&Signature{content: content(i), owner: "before"})
		}
		for i := range n {
			x.replace(&Signature{content: content(i), owner: "after"})
		}
		if x.len() != n || len(x.appendAll(nil)) != n {
			t.Errorf("%d: %d, in all %d", n, x.len(), len(x.appendAll(nil)))
		}
		for i := range n {
			if sig := x.get(content(i)); sig == nil || sig.owner != "after" || sig.content != content(i) {
				t.Errorf("%d: number %d is %v", n, i, sig)
			}
		}
		x.remove(func(sig *Signature) bool { return sig.content != content(0) })
		if x.len() != 1 || x.get(content(0)) == nil || x.get(content(n)) != nil || n > 1 && x.get(content(n-1)) != nil {
			t.Errorf("%d: %d are left", n, x.len())
		}
	}
}
