package objects

import (
	"encoding/json"
	"reflect"

	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/model"
)

// Encode returns the stored form of an object, null for a nil pointer.
func Encode(object any) ([]byte, error) {
	if v := reflect.ValueOf(object); v.Kind() == reflect.Pointer && v.IsNil() {
		return []byte("null"), nil
	}
	switch o := object.(type) {
	case model.Server:
		return model.Encode(&o)
	case model.Object:
		return model.Encode(o)
	}
	return json.Marshal(object)
}

// EqualBut reports whether two JSON texts are equal objects, except for the fields in passing.
func EqualBut(a, b []byte, passing ...string) bool {
	plain := func(text []byte) (v any) {
		_ = json.Unmarshal(text, &v) // nil for invalid JSON
		if fields, is := v.(map[string]any); is {
			for _, name := range passing {
				delete(fields, name)
			}
		}
		return v
	}
	return reflect.DeepEqual(plain(a), plain(b))
}

func Equal(a, b any) bool {
	one, err := Encode(a)
	other, failed := Encode(b)
	return err == nil && failed == nil && EqualBut(one, other)
}

// WithoutSecrets returns an object without secrets, for logs. Of all objects of the API, only servers, regions and
// their overlays may contain a secret, in the health check, and tokens.
func WithoutSecrets(object any) any {
	switch o := object.(type) {
	case model.Server:
		return o.Shown()
	case *model.Server:
		if o != nil {
			return o.Shown()
		}
	case model.Region:
		return o.Shown()
	case *model.Region:
		if o != nil {
			return o.Shown()
		}
	case *definitions.Overlay:
		if o != nil {
			return o.Shown()
		}
	case *model.Token:
		if o != nil {
			return o.Shown()
		}
	}
	return object
}
