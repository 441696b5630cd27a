package definitions

import (
	"bytes"
	"encoding/json"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

// settingKind is the Kind of settings: sections, overlays and servers by host name.
type settingKind struct{}

func (settingKind) Name() string { return store.KindSetting }

func (settingKind) Check(name string, value json.RawMessage) error {
	return CheckPeerSetting(name, value)
}

func (settingKind) Define(d *Draft, name string, value json.RawMessage) error {
	if err := CheckOverlay(name, value); err != nil {
		return err
	}
	d.PutSetting(name, value)
	return nil
}

func (settingKind) Differences(before, after *Set) (names []string) {
	for name, value := range after.Settings {
		if !bytes.Equal(before.Settings[name], value) {
			names = append(names, name)
		}
	}
	for name := range before.Settings {
		if after.Settings[name] == nil {
			names = append(names, name)
		}
	}
	return names
}

func (settingKind) Unused(*Set, string, func(string) bool) string { return "" }

func (settingKind) load(s *Set, name string, value []byte) error {
	if s.Settings == nil {
		s.Settings = map[string]json.RawMessage{}
	}
	s.Settings[name] = bytes.Clone(value)
	return nil
}

func (settingKind) save(b *store.Batch, s *Set, name string) {
	if value := s.Settings[name]; value != nil {
		b.Put(store.KindSetting, name, value)
	} else {
		b.Delete(store.KindSetting, name)
	}
}

func (settingKind) mark(k *Kinds, name string) { k.setting(name) }

func (settingKind) hide(*Draft) {}

func (settingKind) fileNames(*config.Config) []string { return nil }

func (settingKind) join(s *Set, j *joining) { j.targets(s) }

func (settingKind) put(*Draft, model.Object) bool { return false }
