package overwatch // inside: it shares model_signed_test.go

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

// A reload reports every changed key, and whether the change takes effect immediately or at a restart.
func TestReload_NoKeyChangesInSilence(t *testing.T) {
	silent := []string{
		"mode",               // constant
		"overwatch.data_dir", // set to data_dir
		"overwatch.dnssec.security_acknowledgment", // only for readers of the file
	}
	eachKey(reflect.TypeFor[config.Config](), "", nil, func(key string, path []int) {
		before, after := config.Default(), config.Default()
		alter(t, reflect.ValueOf(after).Elem().FieldByIndex(path))
		covers := func(told string) bool { return key == told || strings.HasPrefix(key, told+".") }
		told := slices.ContainsFunc(slices.Concat(
			settings.Changed(before, after, settings.Live), settings.Changed(before, after, settings.Restart)), covers)
		if told == slices.Contains(silent, key) {
			t.Errorf("%s: told %t", key, told)
		}
	})
}

// eachKey visits the keys without nested keys; lists and maps are single keys.
func eachKey(of reflect.Type, prefix string, path []int, visit func(key string, path []int)) {
	for i := range of.NumField() {
		f := of.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("key"), ",")
		switch below := append(slices.Clone(path), i); {
		case key == "":
		case f.Type.Kind() == reflect.Struct:
			eachKey(f.Type, prefix+key+".", below, visit)
		default:
			visit(prefix+key, below)
		}
	}
}

// alter changes the value of a setting. The new value may be invalid.
func alter(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + int64(time.Second))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.Zero(v.Type().Key()), reflect.Zero(v.Type().Elem()))
	default:
		t.Fatalf("no other value for a %s", v.Type())
	}
}
