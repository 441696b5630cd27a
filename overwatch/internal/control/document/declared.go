package document

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/strictjson"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/model"
)

// declaredSection returns the section of a kind of declared objects.
func declaredSection(k definitions.Declared) *section {
	return &section{name: k.Name(), kind: k.Name(), list: k.Plural(), plural: k.Plural(), most: k.Max(),
		state: strings.ToUpper(k.Plural()[:1]) + k.Plural()[1:],
		read: func(*reader) func(json.RawMessage) (read, error) {
			fields := strictjson.FieldsOf(k.NewPatch())
			return func(element json.RawMessage) (read, error) {
				patch := k.NewPatch()
				if err := strictjson.DecodeChecked(element, patch, fields); err != nil {
					return read{}, err
				}
				made, err := k.New(patch, model.FromDocument)
				if err != nil {
					return read{}, err
				}
				return read{k.Name(), made.Key(), made}, nil
			}
		},
		held: func(_ *Planner, set *definitions.Set) map[string]any {
			all := map[string]any{}
			for key, one := range k.Objects(set) {
				all[key] = one
			}
			return all
		},
		get: func(set *definitions.Set, key string) any {
			if one := k.Get(set, key); one != nil {
				return one
			}
			return nil
		},
		put: func(d *definitions.Draft, key string, object any) error {
			if object == nil {
				d.Delete(k.Name(), key)
			} else {
				d.Put(object.(model.Object))
			}
			return nil
		},
		check: func(c *checker, key string, object, was any) {
			place := k.Name() + " " + key
			if c.d.InFile(k.Name(), key) {
				c.problems.add(place, objects.ErrOfFile)
			}
			var named []string
			if was != nil {
				named = k.Regions(was.(model.Object))
			}
			regions := k.Regions(object.(model.Object))
			for _, region := range regions {
				c.problems.check(place, c.mayName(region, named...))
			}
			c.problems.check(place, objects.CheckEnabled(c.d, regions, named))
		},
		write:   func(_ *Planner, _ string, object any) (any, error) { return k.Written(object.(model.Object)), nil },
		owned:   ownedByMeta,
		regions: func(object any) []string { return k.Regions(object.(model.Object)) },
		encode:  encodeList,
		decode: func(list json.RawMessage) (map[string]any, error) {
			return decodeList(list, func(value []byte) (string, any, error) {
				one, err := k.Decode(value)
				if err != nil {
					return "", nil, err
				}
				return one.Key(), one, nil
			})
		}}
}

func ownedByMeta(object any) ownership {
	m := object.(interface{ Metadata() *model.Meta }).Metadata()
	return ownership{&m.Owner, &m.CreatedAt, &m.UpdatedAt, &m.Extra}
}

// encodeList returns the stored forms of objects in the order of their ids.
func encodeList(all map[string]any) (any, error) {
	var list []json.RawMessage
	for _, id := range slices.Sorted(maps.Keys(all)) {
		text, err := model.Encode(all[id])
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

// decodeList is the inverse of encodeList.
func decodeList(list json.RawMessage, decode func([]byte) (id string, object any, err error)) (map[string]any, error) {
	var encoded []json.RawMessage
	if err := json.Unmarshal(list, &encoded); err != nil {
		return nil, err
	}
	all := map[string]any{}
	for _, text := range encoded {
		id, object, err := decode(text)
		if err != nil {
			return nil, err
		}
		all[id] = object
	}
	return all, nil
}
