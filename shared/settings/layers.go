package settings

import (
	"reflect"
	"strings"

	"github.com/spf13/viper"
)

// pathDelimiter is what viper would split keys at. Ours stay whole: it is no character of any key.
const pathDelimiter = "\x00"

// layers joins the sources of what stands outside lists and maps: the files, the files that _file keys name, and the
// environment. No key is left with two of them, so the order is never used to choose; the defaults below all of them
// are what the struct holds already.
type layers struct {
	store  *viper.Viper
	prefix string // of environment variables
}

func newLayers(prefix string, leaves []leaf, scalars map[string]string, alone bool) (*layers, error) {
	l := &layers{viper.NewWithOptions(viper.KeyDelimiter(pathDelimiter)), prefix}
	fromFiles := make(map[string]any, len(scalars))
	for key, text := range scalars {
		fromFiles[key] = text
	}
	if err := l.store.MergeConfigMap(fromFiles); err != nil {
		return nil, err
	}
	for _, leaf := range leaves {
		if leaf.field.secret && !alone {
			if err := l.store.BindEnv(leaf.path, Variable(l.prefix, leaf.path)); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

// Variable returns the name of the environment variable for a secret key.
func Variable(prefix, key string) string {
	return prefix + "_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// override puts a secret from a file of its own.
func (l *layers) override(key, text string) { l.store.Set(key, text) }

// get returns what a key was given; false when it was given nothing.
func (l *layers) get(key string) (string, bool) {
	return l.store.GetString(key), l.store.IsSet(key)
}

// apply puts the scalars into the struct.
func (l *layers) apply(report *Report, leaves []leaf) {
	for _, leaf := range leaves {
		if leaf.field.shape != scalarShape || leaf.value.Kind() == reflect.Map {
			continue
		}
		text, ok := l.get(leaf.path)
		if !ok {
			continue
		}
		if remedy := leaf.field.set(leaf.value, text); remedy != "" {
			report.Add(leaf.path, text, remedy)
		}
	}
}
