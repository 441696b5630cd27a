package dnssec // inside: it uses maxAhead, offered and provisionalMost

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// peered opens a node that has peers. The clocks differ, since the order of keys with equal times is random.
func peered(t *testing.T, after time.Duration) *world {
	t.Helper()
	w := open(t, t.TempDir())
	w.time = start.Add(after)
	w.SetPeers(PeersAsked)
	return w
}

// offer returns the keys of a node, as checked by another node.
func (w *world) offer(t *testing.T, from *world) Offer {
	t.Helper()
	h, err := from.Export()
	if err != nil {
		t.Fatal(err)
	}
	o, err := w.Check(h)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// ask requests the keys of the other nodes once, receives an answer from each, and returns the outcome.
func (w *world) ask(t *testing.T, others ...*world) Merged {
	t.Helper()
	var offers []Offer
	for _, other := range others {
		offers = append(offers, w.offer(t, other))
	}
	m, err := w.Merge(offers, Complete)
	if err != nil {
		t.Fatal(err)
	}
	w.signer(t)
	return m
}

// tags returns the tags of the published keys.
func (w *world) tags() (tags []uint16) {
	for _, k := range w.Keys() {
		tags = append(tags, k.Tag())
	}
	return tags
}

func (w *world) want(t *testing.T, what string, keys ...*Key) {
	t.Helper()
	var want []uint16
	for _, k := range keys {
		want = append(want, k.Tag())
	}
	if !slices.Equal(w.tags(), want) {
		t.Errorf("%s: keys %v, want %v", what, w.tags(), want)
	}
}

// only returns the only key of a node.
func (w *world) only(t *testing.T) *Key {
	t.Helper()
	if keys := w.Keys(); len(keys) != 1 {
		t.Fatalf("%d keys, want one", len(keys))
	}
	return w.Keys()[0].Key
}

// settle runs rounds without peers until the node's key is no longer provisional.
func (w *world) settle(t *testing.T) {
	t.Helper()
	w.time = w.time.Add(provisionalMost)
	if m, err := w.Merge(nil, Partial); err != nil || !m.Altered {
		t.Fatalf("%+v, %v", m, err)
	}
	w.signer(t)
}

// restart reopens the node, as after a crash.
func (w *world) restart(t *testing.T) *world {
	t.Helper()
	again := open(t, w.dir)
	again.time = w.time
	again.SetPeers(PeersAsked)
	again.signer(t)
	return again
}

func TestMerge_OfProvisionalKeysTheOldestStaysAloneOnEveryNode(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {1, 0, 2}} {
		nodes := []*world{peered(t, 0), peered(t, time.Second), peered(t, 2*time.Second)}
		for _, w := range nodes {
			w.signer(t)
			if ds := w.signer(t).DS(); len(ds) != 0 || count(w.signer(t).Records(), dns.TypeCDS) != 0 {
				t.Fatalf("the parent is told of a provisional key: %v", ds)
			}
		}
		oldest := nodes[0].only(t)
		for range 3 { // rounds
			for _, i := range order {
				nodes[i].time = nodes[i].time.Add(provisionalLeast)
				nodes[i].ask(t, nodes[(i+1)%3], nodes[(i+2)%3])
			}
		}
		for i, w := range nodes {
			w.want(t, "node", oldest)
			if len(w.signer(t).DS()) != 1 || w.Keys()[0].Provisional {
				t.Errorf("order %v, node %d: still provisional", order, i)
			}
			w.restart(t).want(t, "after a restart", oldest)
		}
	}
}

func TestMerge_AProvisionalKeyGivesWayToAKeyInUse(t *testing.T) {
	inUse := peered(t, 4*time.Minute)
	inUse.signer(t)
	inUse.settle(t)
	wiped := peered(t, 0) // with an older key, because its clock is behind
	wiped.signer(t)
	if m := wiped.ask(t, inUse); m.Imported[0] != 1 || len(m.Dropped) != 1 || !m.Altered || m.Unsettled {
		t.Errorf("%+v", m)
	}
	wiped.want(t, "wiped", inUse.only(t))
	if m := inUse.ask(t, wiped); m.Altered {
		t.Errorf("the key in use changed: %+v", m)
	}
}

func TestMerge_ANodeThatReachesNobodyKeepsItsKey(t *testing.T) {
	w := peered(t, 0)
	w.signer(t)
	if m, err := w.Merge(nil, Partial); err != nil || m.Altered || !m.Unsettled {
		t.Errorf("at once: %+v, %v", m, err)
	}
	w.time = w.time.Add(provisionalMost)
	if m, err := w.Merge(nil, Partial); err != nil || !m.Altered || m.Unsettled {
		t.Errorf("%+v, %v", m, err)
	}
	if len(w.signer(t).DS()) != 1 {
		t.Error("the parent is not told of the key")
	}
}

// apart returns two nodes that created different keys without contact.
func apart(t *testing.T) (a, b *world) {
	a, b = peered(t, 0), peered(t, time.Hour)
	for _, w := range []*world{a, b} {
		w.signer(t)
		w.settle(t)
	}
	a.time = b.time
	return a, b
}

func TestMerge_NodesThatStartedApartPublishAndSignWithTheUnion(t *testing.T) {
	a, b := apart(t)
	first, second := a.only(t), b.only(t)
	a.ask(t, b)
	b.ask(t, a)
	for _, w := range []*world{a, b} {
		w.want(t, "node", first, second)
		if s := w.signer(t); len(s.active) != 2 || len(s.DS()) != 2 {
			t.Errorf("%d keys sign, want both, so that answers hold whichever DS the parent has", len(s.active))
		}
	}
}

func TestMerge_AKeyThatWasTakenAwayDoesNotComeBackFromAnOldBackup(t *testing.T) {
	a, b := apart(t)
	first, second := a.only(t), b.only(t)
	c := peered(t, time.Hour)
	c.SetExpected([]string{apex})
	for range 2 {
		a.ask(t, b)
		b.ask(t, a)
		c.ask(t, a, b)
	}
	backup := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(backup, os.DirFS(c.dir)); err != nil {
		t.Fatal(err)
	}
	// CopyFS creates files with permissions for other users.
	if err := filepath.WalkDir(backup, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o600)
	}); err != nil {
		t.Fatal(err)
	}
	for _, w := range []**world{&a, &b, &c} {
		for _, ending := range []string{publicEnding, privateEnding} {
			if err := os.Remove(filepath.Join((*w).dir, first.FileName()+ending)); err != nil {
				t.Fatal(err)
			}
		}
		*w = (*w).restart(t)
		a.ask(t, b, c)
		b.ask(t, a, c)
		c.ask(t, a, b)
		(*w).want(t, "after taking it away", second)
	}
	old := open(t, backup)
	old.SetPeers(PeersAsked)
	old.time = a.time.Add(time.Minute)
	old.signer(t)
	old.ask(t, a, b)
	a.ask(t, b, old)
	b.ask(t, a, old)
	a.want(t, "a", second)
	b.want(t, "b", second)
	old.want(t, "the backup, before the other key was published for a TTL", first, second)
	old.time = old.time.Add(time.Hour)
	if old.ask(t, a); len(old.tags()) != 1 {
		t.Error("it went with all others asked; the TTL is over")
	}
	old.want(t, "the backup, an hour later", second)
	old.restart(t).want(t, "and after a restart", second)
}

func TestMerge_OnePeerAloneWithdrawsNothing(t *testing.T) {
	a, b := apart(t)
	first, second := a.only(t), b.only(t)
	a.ask(t, b)
	a.time = a.time.Add(2 * time.Hour)
	liar := a.offer(t, b)
	liar.withdrawn = []Withdrawn{{apex, first.public}}
	honest := a.offer(t, b)
	honest.keys = append(honest.keys, offered{first, false})
	for name, c := range map[string]struct {
		offers   []Offer
		response Response
	}{
		"another has it":          {[]Offer{liar, honest}, Complete},
		"another did not answer":  {[]Offer{liar}, Partial},
		"it has nothing in place": {[]Offer{{withdrawn: []Withdrawn{{apex, first.public}, {apex, second.public}}}}, Complete},
	} {
		if m, err := a.Merge(c.offers, c.response); err != nil || len(m.Dropped) > 0 {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	a.want(t, "a", first, second)
}

func TestMerge_BoundsTheKeysOfAZone(t *testing.T) {
	a, _ := apart(t)
	var offers []Offer
	for range 4 {
		_, other := apart(t)
		offers = append(offers, a.offer(t, other))
	}
	m, err := a.Merge(offers, Complete)
	if err != nil {
		t.Fatal(err)
	}
	if refused := slices.DeleteFunc(m.Refused, func(err error) bool { return !errors.Is(err, ErrTooManyKeys) }); len(
		refused) != 2 || len(m.Taken) != 2 {
		t.Errorf("%+v", m)
	}
}

// A single invalid part makes the whole answer of a peer invalid.
//
// Fault 31.
func TestCheck_TakesNothingOfAnAnswerWithOneBadKey(t *testing.T) {
	a, b := apart(t)
	good, err := b.Export()
	if err != nil {
		t.Fatal(err)
	}
	other, err := mustGenerate(t, start).portable()
	if err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Portable){
		"private key that does not belong to its public key": func(p *Portable) { p.Private = good.Keys[0].Private },
		"not a private key of P-256":                         func(p *Portable) { p.Private = nil },
		"does not belong to its public key":                  func(p *Portable) { p.Public = nil },
		"has the key tag":                                    func(p *Portable) { p.Tag++ },
		"the algorithm 8":                                    func(p *Portable) { p.Algorithm = 8 },
		"the flags 256":                                      func(p *Portable) { p.Flags = 256 },
		"is in the future": func(p *Portable) {
			p.Created = a.time.Add(maxAhead +
				time.Second)
		},
		"outside the range of key files": func(p *Portable) {
			p.Activate = time.Date(10000, 1, 1, 0, 0, 0, 0,
				time.UTC)
		},
		"no node id": func(p *Portable) {
			p.Origin = "x\n" + apex +
				" IN DNSKEY 257 3 13 AAAA"
		},
		"more than 3 keys": nil,
	} {
		h := Holding{Keys: slices.Clone(good.Keys)}
		bad := other
		if spoil == nil {
			for range MaxKeys {
				h.Keys = append(h.Keys, bad)
			}
		} else {
			spoil(&bad)
			h.Keys = append(h.Keys, bad)
		}
		if _, err := a.Check(h); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	foreign := other
	foreign.Zone = "other.example."
	if o, err := a.Check(Holding{Keys: []Portable{foreign}}); err != nil || o.Ignored != 1 || len(o.keys) != 0 {
		t.Errorf("a key of a zone that is not served: %+v, %v", o, err)
	}
}
