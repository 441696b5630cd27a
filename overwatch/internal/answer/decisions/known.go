package decisions

import (
	"strings"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// maxKnown bounds how many decisions are remembered from one fold to the next, some 30 MB. Where there would be more, all are
// forgotten, and those that still answer are made again.
const maxKnown = 1 << 18

// known remembers what counting needs of decisions, since most answers follow from one that has been counted before. It
// belongs to the Recorder's lock. Decisions of outdated answers stay until all are forgotten.
type known struct {
	like     map[which]*decision
	distinct map[string]*likeness
}

// which is what a decision of a name is told apart by, as far as counting needs it: of clients at different spots in a region who
// are sent to the same backends, the first stands for all.
type which struct {
	number uint32
	choice uint16
	region geo.RegionID
	family policy.Family
}

// decision is what is remembered of one.
type decision struct {
	*likeness
	places []uint32 // by address, plus one: where its flow is counted in a bucket; 0 where that was not looked up
	bucket uint32   // the number of that bucket
}

// likeness is what decisions have in common that are counted alike, and how often they led where since totals were last added to.
type likeness struct {
	algorithm string
	outcome   policy.Outcome
	placed    bool
	source    string
	regions   []string // of the backends, by the decision's addresses
	led       []uint64 // by address, and last of answers without one
	counted   bool     // something is in led
}

func newKnown() known {
	return known{make(map[which]*decision), make(map[string]*likeness)}
}

// of is the decision that an answer follows from.
func (k *known) of(answer *zone.Steered) *decision {
	which := which{answer.Number, answer.Choice, answer.Region, answer.Family}
	d, there := k.like[which]
	if there {
		return d
	}
	if len(k.like) >= maxKnown {
		*k = newKnown()
	}
	l := likenessOf(answer)
	key := l.key()
	if before, there := k.distinct[key]; there {
		l = before
	} else {
		k.distinct[key] = l
	}
	d = &decision{likeness: l}
	k.like[which] = d
	return d
}

// likenessOf repeats the decision.
func likenessOf(answer *zone.Steered) *likeness {
	at := answer.Client()
	d := answer.Basis.Decide(answer.Family, at)
	l := &likeness{algorithm: d.Algorithm.String(), outcome: d.Outcome, placed: answer.Basis.Placed, source: at.Region, led: make([]uint64, len(d.Due)+1)}
	for lead := range d.Due {
		region := ""
		if c := selected(d, uint16(lead)); c != nil {
			region = c.Region
		}
		l.regions = append(l.regions, region)
	}
	return l
}

// key differs where likenesses do: no name has an octet 0.
func (l *likeness) key() string {
	placed := ""
	if l.placed {
		placed = "placed"
	}
	return strings.Join(append([]string{l.algorithm, string(l.outcome), placed, l.source}, l.regions...), "\x00")
}
