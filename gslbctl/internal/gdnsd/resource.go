package gdnsd

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// address is an address of a resource, with its weight and the service types that check it.
type address struct {
	at       netip.Addr
	weight   int
	types    []string
	unheeded bool // ignore_health: its health matters only for its part
}

// part is a set of addresses that gdnsd uses as a whole: a datacenter, or the primary or secondary of simplefo.
type part struct {
	name      string
	addresses []address
	threshold int  // minimum number that must be up
	weighty   bool // the weights differ, and up_thresh counts weights
}

// resource is a resource of any plugin, reduced to parts with addresses.
type resource struct {
	parts  []part
	single bool   // an answer has one address, chosen by weight
	chain  bool   // an answer has addresses of the first part that is up
	geoMap string // the map that orders the parts for a client; "" for a fixed order
}

// errNames means that a resource answers with host names instead of addresses.
var errNames = errors.New("it answers with a CNAME: write a domain with answer: cname and servers with targets")

// settingKeys are the setting keys of a resource of multifo, weighted or simplefo. All other keys are addresses.
var settingKeys = []string{"up_thresh", "service_types", "ignore_health", "multi"}

// metaKeys are the setting keys of a resource of metafo or geoip. All other keys are datacenters.
var metaKeys = []string{"datacenters", "dcmap", "map", "skip_first"}

// resolve returns the resource of a reference, such as metafo!www/eu.
func (r *reader) resolve(ref string, depth int) (resource, error) {
	plugin, name, _ := strings.Cut(ref, "!")
	top := r.root.sub("plugins").sub(plugin)
	switch {
	case depth > maxDepth:
		return resource{}, errors.New("its resources refer to one another")
	case top == nil:
		return resource{}, fmt.Errorf("there is no plugin %s", plugin)
	case plugin == "metafo" || plugin == "geoip":
		return r.meta(plugin, top, name, depth)
	case plugin == "static":
		return r.leaf(plugin, &hash{keys: []string{"1"}, of: map[string]any{"1": top.get(name)}})
	case plugin == "multifo" || plugin == "weighted" || plugin == "simplefo":
		switch v := top.get(name).(type) {
		case *hash:
			return r.leaf(plugin, inherit(v, top, settingKeys...))
		case []any:
			return r.leaf(plugin, inherit(numbered(v), top, settingKeys...))
		case string:
			return r.leaf(plugin, inherit(numbered([]any{v}), top, settingKeys...))
		}
		return resource{}, fmt.Errorf("there is no resource %s of %s", name, plugin)
	}
	return resource{}, fmt.Errorf("plugin %s has no like", plugin)
}

// inherit returns a copy of h. It adds the keys of only from from that h lacks.
func inherit(h, from *hash, only ...string) *hash {
	out := &hash{keys: slices.Clone(h.keys), of: map[string]any{}}
	for _, key := range h.keys {
		out.of[key] = h.of[key]
	}
	for _, key := range from.keys {
		if slices.Contains(only, key) {
			out.set(key, from.of[key])
		}
	}
	return out
}

func numbered(addresses []any) *hash {
	h := &hash{of: map[string]any{}}
	for i, a := range addresses {
		h.set(strconv.Itoa(i+1), a)
	}
	return h
}

// meta returns a resource of metafo or geoip, or one datacenter of it if the name is resource/datacenter.
func (r *reader) meta(plugin string, top *hash, name string, depth int) (resource, error) {
	h, only := top.sub("resources").sub(name), ""
	if h == nil {
		i := strings.LastIndex(name, "/")
		if i < 0 || top.sub("resources").sub(name[:i]) == nil {
			return resource{}, fmt.Errorf("there is no resource %s of %s", name, plugin)
		}
		h, only = top.sub("resources").sub(name[:i]), name[i+1:]
	}
	h = inherit(h, top, metaKeys...)
	places, geoMap := list(h.get("datacenters")), ""
	if plugin == "geoip" {
		geoMap = h.text("map")
		order, err := r.order(geoMap)
		if err != nil {
			return resource{}, err
		}
		places = order
	}
	if only != "" {
		return r.place(h, top, only, depth)
	}
	if isTrue(h, "skip_first") && len(places) > 1 {
		if plugin == "geoip" {
			return resource{}, errors.New("skip_first answers with the second place of a client")
		}
		places = places[1:]
	}
	out := resource{chain: true, geoMap: geoMap}
	for i, dc := range places {
		if h.sub("dcmap").get(dc) == nil && isTrue(top, "undefined_datacenters_ok") {
			return resource{}, fmt.Errorf("datacenter %s has no addresses (undefined_datacenters_ok)", dc)
		}
		sub, err := r.place(h, top, dc, depth)
		switch {
		case err != nil:
			return resource{}, err
		case sub.geoMap != "" || (geoMap != "" && len(sub.parts) > 1):
			return resource{}, fmt.Errorf("datacenter %s chooses among places in turn", dc)
		case i > 0 && sub.single != out.single:
			return resource{}, errors.New("its datacenters answer with one address and with all")
		}
		out.single = sub.single
		for _, p := range sub.parts {
			if len(sub.parts) > 1 {
				p.name = dc + "-" + p.name
			} else {
				p.name = dc
			}
			out.parts = append(out.parts, p)
		}
	}
	return out, nil
}

func isTrue(h *hash, key string) bool { return strings.EqualFold(h.text(key), "true") }

// place returns the resource of a datacenter in h. h is a resource of the plugin with the settings top.
func (r *reader) place(h, top *hash, dc string, depth int) (out resource, err error) {
	plugin := "multifo"
	for _, of := range []*hash{top, h} {
		if p := of.text("plugin"); p != "" {
			plugin = p
		}
	}
	switch v := h.sub("dcmap").get(dc).(type) {
	case string:
		if ref, direct := strings.CutPrefix(v, "%"); direct {
			return r.resolve(ref, depth+1)
		}
		if strings.HasPrefix(v, "!") {
			return r.resolve(plugin+v, depth+1)
		}
		out, err = r.leaf("multifo", inherit(inherit(numbered([]any{v}), h, settingKeys...), top, settingKeys...))
	case []any:
		out, err = r.leaf("multifo", inherit(inherit(numbered(v), h, settingKeys...), top, settingKeys...))
	case *hash:
		if p := v.text("plugin"); p != "" {
			plugin = p
		}
		if plugin == "metafo" {
			return resource{}, errors.New("datacenter " + dc + " has a metafo in it: give that a name, as %metafo!name")
		}
		out, err = r.leaf(plugin, inherit(inherit(v, h, settingKeys...), top, settingKeys...))
	default:
		return out, fmt.Errorf("datacenter %s has no addresses", dc)
	}
	if err == nil && len(out.parts) == 1 {
		out.parts[0].name = dc
	}
	return out, err
}

// leaf returns a resource of a plugin that has addresses itself: multifo, weighted, simplefo or static.
func (r *reader) leaf(plugin string, h *hash) (resource, error) {
	out := resource{single: plugin == "weighted" && !isTrue(h, "multi"), parts: []part{{name: "main"}}}
	for _, key := range h.keys {
		switch {
		case key == "addrs_v4" || key == "addrs_v6":
			sub, ok := h.get(key).(*hash)
			switch value := h.get(key).(type) {
			case []any:
				sub, ok = numbered(value), true
			case string: // a value is a list of length 1 (gdnsd.config(5))
				sub, ok = numbered([]any{value}), true
			}
			if !ok {
				return out, fmt.Errorf("%s has no addresses", key)
			}
			family, err := r.leaf(plugin, inherit(sub, h, settingKeys...))
			if err != nil {
				return out, err
			}
			if len(out.parts[0].addresses) > 0 && family.single != out.single {
				return out, errors.New("multi differs between its families")
			}
			out = join(out, family)
		case slices.Contains(settingKeys, key) || key == "plugin":
		default:
			a, err := oneAddress(h.get(key))
			if err != nil {
				return out, err
			}
			a.types, a.unheeded = list(h.get("service_types")), isTrue(h, "ignore_health")
			if plugin == "simplefo" && key == "secondary" {
				if len(out.parts) == 1 {
					out.parts = append(out.parts, part{})
				}
				out.parts[1].addresses = append(out.parts[1].addresses, a)
				continue
			}
			out.parts[0].addresses = append(out.parts[0].addresses, a)
		}
	}
	if plugin == "simplefo" {
		if len(out.parts) != 2 {
			return out, errors.New("it has no secondary")
		}
		out.chain, out.parts[0].name, out.parts[1].name = true, "primary", "secondary"
		out.parts[0].threshold, out.parts[1].threshold = 1, 1
		return out, nil
	}
	return out, out.parts[0].measure(plugin, h, out.single)
}

// join adds the addresses of one address family to a resource with addresses of the other family.
func join(out, family resource) resource {
	for i, p := range family.parts {
		if i == len(out.parts) {
			out.parts = append(out.parts, part{})
		}
		out.parts[i].addresses = append(out.parts[i].addresses, p.addresses...)
		out.parts[i].threshold += p.threshold
		out.parts[i].weighty = out.parts[i].weighty || p.weighty
	}
	out.single = family.single
	return out
}

// measure sets threshold and weighty from up_thresh, unless both families of addresses have set them.
func (p *part) measure(plugin string, h *hash, single bool) error {
	if len(p.addresses) == 0 {
		return errors.New("it has no addresses")
	}
	alike := !slices.ContainsFunc(p.addresses, func(a address) bool { return a.weight != p.addresses[0].weight })
	if plugin == "weighted" && !single && !alike {
		return errors.New("multi with weights that differ answers now with more, now with fewer addresses")
	}
	if p.threshold > 0 {
		return nil
	}
	share := 0.5
	if text := h.text("up_thresh"); text != "" {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || f <= 0 || f > 1 {
			return fmt.Errorf("up_thresh %q is no number above 0 and up to 1", text)
		}
		share = f
	}
	p.threshold = int(math.Ceil(share * float64(len(p.addresses))))
	p.weighty = !alike && len(p.addresses) > 1
	return nil
}

func oneAddress(value any) (a address, err error) {
	a.weight = 100
	if pair, ok := value.([]any); ok {
		words := list(pair)
		if len(words) != 2 {
			return a, errors.New("its addresses are not [address, weight]")
		}
		weight, err := integer(words[1], 20)
		if err != nil || weight < 1 {
			return a, fmt.Errorf("weight %q is not from 1 to 1048575", words[1])
		}
		a.weight = int(weight)
		value = words[0]
	}
	text, ok := value.(string)
	if !ok {
		return a, errors.New("it has groups of addresses")
	}
	if a.at, err = netip.ParseAddr(text); err != nil || a.at.Zone() != "" {
		return a, errNames
	}
	return a, nil
}
