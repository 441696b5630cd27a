package objects

import (
	"encoding/json"
	"reflect"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

// Encode returns the stored form of an object, null for a nil pointer.
func Encode(object any) ([]byte, error) {
	if d, is := object.(*model.Domain); is && d != nil {
		return model.Encode(d)
	}
	return json.Marshal(object)
}

// EqualBut reports whether two JSON texts are the same object, but for the fields in passing.
func EqualBut(a, b []byte, passing ...string) bool {
	plain := func(Encode []byte) (v any) {
		_ = json.Unmarshal(Encode, &v) // nothing where it is no JSON
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

// WithoutSecrets returns an object as every reader of a log may see it. Of all objects of the API, only a server may
// have a secret: what its check has from the configuration.
func WithoutSecrets(object any) any {
	switch o := object.(type) {
	case store.Server:
		return o.Shown()
	case *store.Server:
		return o.Shown()
	}
	return object
}
