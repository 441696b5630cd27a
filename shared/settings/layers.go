package settings

import (
	"reflect"
	"strings"

	"github.com/spf13/viper"
)

// pathDelimiter makes viper leave our keys whole: no key has this character.
const pathDelimiter = "\x00"

// layers joins the sources of scalars outside lists and maps: the files, the files of _file keys, and the
// environment. Each key has one source at most, so the order of the layers never decides. Defaults are already in the
// struct.
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

// Variable returns the name of the environment variable of a secret key.
func Variable(prefix, key string) string {
	return prefix + "_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// get returns the value of a key; false for none.
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
