package settings

import "reflect"

// Effect is the time at which a changed value takes effect. The tag `reload` of a field defines it.
type Effect string

// Effects of keys.
const (
	Live    Effect = "live"    // the value takes effect on reload
	Restart Effect = "restart" // the value takes effect at the next start
	Silent  Effect = "silent"  // the value has no effect on running parts
)

// Part is a key with its own effect. The keys below it have the same effect, unless they are parts.
type Part struct {
	Key    string
	Effect Effect
	index  []int   // of the struct field, for reflect
	apart  [][]int // indexes, relative to the field, of nested parts
}

// Parts returns the parts of a struct, in order.
func Parts(of reflect.Type) []Part { return parts(of, "", nil) }

func parts(of reflect.Type, prefix string, index []int) (found []Part) {
	keys := schema{}.structure(of)
	for i := range keys.fields {
		f := &keys.fields[i]
		at := append(append([]int(nil), index...), f.index...)
		below := func() []Part { return nil }
		if f.shape == structShape && !f.pointer {
			below = func() []Part { return parts(of.FieldByIndex(f.index).Type, prefix+f.name+".", at) }
		}
		if f.effect == "" {
			found = append(found, below()...)
			continue
		}
		part, inner := Part{Key: prefix + f.name, Effect: f.effect, index: at}, below()
		for _, b := range inner {
			part.apart = append(part.apart, b.index[len(at):])
		}
		found = append(append(found, part), inner...)
	}
	return found
}

// Changed returns the keys of an effect with different values in two structs. before and after point to the same struct
// type.
func Changed(before, after any, effect Effect) []string {
	a, b := reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem()
	changed := []string{}
	for _, part := range Parts(a.Type()) {
		if part.Effect == effect && !reflect.DeepEqual(part.of(a), part.of(b)) {
			changed = append(changed, part.Key)
		}
	}
	return changed
}

// of returns a copy of the part's value with its inner parts zeroed.
func (p *Part) of(v reflect.Value) any {
	value := reflect.New(v.FieldByIndex(p.index).Type()).Elem()
	value.Set(v.FieldByIndex(p.index))
	for _, index := range p.apart {
		value.FieldByIndex(index).SetZero()
	}
	return value.Interface()
}

// KeepRunning copies the values that require a restart from running to next, so that next is the active configuration
// after a reload. Both point to the same struct type.
func KeepRunning(running, next any) {
	a, b := reflect.ValueOf(running).Elem(), reflect.ValueOf(next).Elem()
	for _, part := range Parts(a.Type()) {
		if part.Effect != Restart {
			continue
		}
		to := b.FieldByIndex(part.index)
		kept := reflect.New(to.Type()).Elem()
		kept.Set(a.FieldByIndex(part.index))
		for _, index := range part.apart {
			kept.FieldByIndex(index).Set(to.FieldByIndex(index))
		}
		to.Set(kept)
	}
}
