package settings

import (
	"reflect"
	"strings"

	"github.com/spf13/viper"
)

// pathDelimiter makes viper leave our keys whole: no key has this character.
const pathDelimiter = "\x00"

// envPrefix begins the names of the environment variables that may hold secrets.
const envPrefix = "GSLB"

// joinSources returns a store of the scalars outside lists and maps, from the files and the environment. Values from
// the files of _file keys are set later. Each key has one source at most, so the order of the sources never decides.
// Defaults are already in the struct.
func joinSources(leaves []leaf, scalars map[string]string, alone bool) (*viper.Viper, error) {
	store := viper.NewWithOptions(viper.KeyDelimiter(pathDelimiter))
	fromFiles := make(map[string]any, len(scalars))
	for key, text := range scalars {
		fromFiles[key] = text
	}
	if err := store.MergeConfigMap(fromFiles); err != nil {
		return nil, err
	}
	for _, leaf := range leaves {
		if leaf.field.secret && !alone {
			if err := store.BindEnv(leaf.path, Variable(leaf.path)); err != nil {
				return nil, err
			}
		}
	}
	return store, nil
}

// Variable returns the name of the environment variable of a secret key: that of agent.identity.service_token is
// GSLB_AGENT_IDENTITY_SERVICE_TOKEN.
func Variable(key string) string {
	return envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// apply puts the scalars into the struct.
func apply(store *viper.Viper, report *Report, leaves []leaf) {
	for _, leaf := range leaves {
		if leaf.field.shape != scalarShape || leaf.value.Kind() == reflect.Map || !store.IsSet(leaf.path) {
			continue
		}
		text := store.GetString(leaf.path)
		if remedy := leaf.field.set(leaf.value, text); remedy != "" {
			report.Add(leaf.path, text, remedy)
		}
	}
}
