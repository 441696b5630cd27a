package settings

import (
	"fmt"
	"reflect"
)

// bounds limits a number or duration, by the tags `min` and `max` of its field; "" means no limit. The tag `unit` names
// the unit of a number in messages.
type bounds struct {
	min, max    string
	least, most reflect.Value
	unit        string
}

// boundsOf returns the bounds of a field from its tags, or nil.
func (f *field) boundsOf(t reflect.Type, tag reflect.StructTag) *bounds {
	b := &bounds{min: tag.Get("min"), max: tag.Get("max"), unit: tag.Get("unit")}
	if b.min == "" && b.max == "" {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if b.unit == "" {
		b.unit = "a number"
		if t == durationType || t == textDurationType {
			b.unit = "a time"
		}
	}
	parsed := func(text string) (v reflect.Value) {
		if text != "" {
			v = reflect.New(t).Elem()
			f.mustSet(setterOf(t), v, text)
		}
		return v
	}
	b.least, b.most = parsed(b.min), parsed(b.max)
	return b
}

// String describes the valid values, for messages and the reference.
func (b *bounds) String() string {
	switch {
	case b.max == "":
		return "at least " + b.min
	case b.min == "":
		return "at most " + b.max
	}
	return fmt.Sprintf("from %s to %s", b.min, b.max)
}

// remedy returns "" for a value within the bounds, or else how to correct it.
func (b *bounds) remedy(v reflect.Value) string {
	if b.least.IsValid() && less(v, b.least) || b.most.IsValid() && less(b.most, v) {
		if b.min == "" || b.max == "" {
			return "give " + b.String()
		}
		return "give " + b.unit + " " + b.String()
	}
	return ""
}

func less(a, b reflect.Value) bool {
	switch {
	case a.CanFloat():
		return a.Float() < b.Float()
	case a.CanUint():
		return a.Uint() < b.Uint()
	}
	return a.Int() < b.Int()
}

// bounded returns a setter that rejects values outside the bounds.
func bounded(set setter, b *bounds) setter {
	return func(v reflect.Value, text string) (remedy string) {
		before := reflect.New(v.Type()).Elem()
		before.Set(v)
		if remedy = set(v, text); remedy != "" {
			return remedy
		}
		if remedy = b.remedy(reflect.Indirect(v)); remedy != "" {
			v.Set(before)
		}
		return remedy
	}
}

// BoundsOf returns a function that checks values of a struct field against its tags `min`, `max` and `unit`: it returns
// "" for a value within the bounds, else how to correct the value. It is nil for a field without bounds.
func BoundsOf(f reflect.StructField) func(reflect.Value) (remedy string) {
	known := field{name: f.Name}
	b := known.boundsOf(f.Type, f.Tag)
	if b == nil {
		return nil
	}
	return b.remedy
}

// CheckBounds adds a problem for each value outside its bounds in the struct that s points to, without lists and maps.
// It is for a struct that the caller changes after Load.
func (r *Report) CheckBounds(s any) {
	for _, leaf := range (schema{}).leaves("", reflect.ValueOf(s).Elem()) {
		b, value := leaf.field.bounds, reflect.Indirect(leaf.value)
		if b == nil || !value.IsValid() { // an unset pointer
			continue
		}
		if remedy := b.remedy(value); remedy != "" {
			r.Add(leaf.path, fmt.Sprint(value), remedy)
		}
	}
}
