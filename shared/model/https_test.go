package model_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"gslb.internal/shared/model"
)

// FuzzHTTPS_ECHConfigs checks that an accepted ECHConfigList has the length that its first octets state.
func FuzzHTTPS_ECHConfigs(f *testing.F) {
	for _, s := range []string{"", "AAA=", "AAP+DQA=", "x", "AAT+DQAA", strings.Repeat("A", 4096)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list, err := (&model.HTTPS{ECH: s}).ECHConfigs()
		if err != nil || s == "" {
			if list != nil {
				t.Fatalf("%q: octets %x and error %v", s, list, err)
			}
			return
		}
		if len(list) > 1024 || int(list[0])<<8|int(list[1]) != len(list)-2 {
			t.Fatalf("%q is taken as %x", s, list)
		}
		again, _ := base64.StdEncoding.DecodeString(base64.StdEncoding.EncodeToString(list))
		if !slices.Equal(again, list) {
			t.Fatalf("%x differs from the input", list)
		}
	})
}
