package model_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"gslb.internal/shared/model"
)

// FuzzHTTPS_ECHConfigs holds that what is taken as an ECHConfigList is one as far as its length says.
func FuzzHTTPS_ECHConfigs(f *testing.F) {
	for _, s := range []string{"", "AAA=", "AAP+DQA=", "x", "AAT+DQAA", strings.Repeat("A", 4096)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list, err := (&model.HTTPS{ECH: s}).ECHConfigs()
		if err != nil || s == "" {
			if list != nil {
				t.Fatalf("%q: octets %x beside %v", s, list, err)
			}
			return
		}
		if len(list) > 1024 || int(list[0])<<8|int(list[1]) != len(list)-2 {
			t.Fatalf("%q is taken as %x", s, list)
		}
		again, _ := base64.StdEncoding.DecodeString(base64.StdEncoding.EncodeToString(list))
		if !slices.Equal(again, list) {
			t.Fatalf("%x is not what was given", list)
		}
	})
}
