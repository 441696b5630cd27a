package gdnsd

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gslb.internal/gslbctl/internal/imports"
)

// order returns the datacenters of a map of the plugin geoip, the default first. A node supports one map: order accepts
// the first map that a name uses, and returns an error for another map.
func (r *reader) order(name string) ([]string, error) {
	if r.geoMap == "" {
		if err := r.addMap(name); err != nil {
			return nil, err
		}
		r.geoMap = name
	}
	if r.geoMap != name {
		return nil, fmt.Errorf("a node has one map of the world, %s, and this needs %s", r.geoMap, name)
	}
	return r.places, nil
}

// addMap adds the regions and networks of a map to the result, and sets places.
func (r *reader) addMap(name string) error {
	m := r.root.sub("plugins").sub("geoip").sub("maps").sub(name)
	if r.places = list(m.get("datacenters")); len(r.places) == 0 {
		return fmt.Errorf("there is no map %s with datacenters", name)
	}
	for _, dc := range r.places {
		if !regionName(dc) {
			return fmt.Errorf("%q cannot be the name of a region", dc)
		}
	}
	g := &imports.Geolocation{ECS: !isTrue(m, "ignore_ecs") &&
		!strings.EqualFold(r.root.sub("options").text("edns_client_subnet"), "false")}
	if db := m.text("geoip2_db"); db != "" {
		if g.Database = db; !filepath.IsAbs(db) {
			g.Database = filepath.Join(r.folder, "geoip", db)
		}
	}
	w := &mapReader{reader: r, what: "map " + name, reported: map[string]bool{}, known: slices.Clone(r.places)}
	coordinates := m.sub("auto_dc_coords")
	if coordinates != nil {
		if err := w.coordinates(coordinates); err != nil {
			return err
		}
	}
	top := m.sub("map")
	if first := list(top.get("default")); len(first) > 0 && first[0] != "auto" {
		r.places = slices.Clone(first)
		for _, dc := range w.known {
			if !slices.Contains(first, dc) {
				r.places = append(r.places, dc)
			}
		}
	}
	g.Default = r.places[0]
	w.list("default", top.get("default"))
	if top != nil && coordinates != nil {
		r.result.Differs(w.what, "the nearest location is used even if the map defines another")
	} else if top != nil {
		w.continents(top)
	}
	if err := w.networks(m.get("nets"), g); err != nil {
		return err
	}
	r.result.Config.Overwatch, r.nearest = &imports.Overwatch{Geolocation: *g}, coordinates != nil
	return nil
}

func regionName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_.", c)
	})
}

// mapReader converts one map of the plugin geoip to regions.
type mapReader struct {
	*reader
	what     string
	reported map[string]bool
	known    []string
}

func (w *mapReader) coordinates(of *hash) error {
	for _, dc := range of.keys {
		pair := list(of.of[dc])
		if len(pair) != 2 {
			return fmt.Errorf("the coordinates of %s are not [latitude, longitude]", dc)
		}
		north, err := strconv.ParseFloat(pair[0], 64)
		if err != nil {
			return err
		}
		east, err := strconv.ParseFloat(pair[1], 64)
		if err != nil {
			return err
		}
		region := w.result.Config.Region(dc)
		region.Latitude, region.Longitude = &north, &east
	}
	return nil
}

// list returns the first datacenter of a list, or "" for an empty list. It notes a different order of the other
// datacenters on a node. where is the key of the list in the map, for messages.
func (w *mapReader) list(where string, value any) string {
	places := list(value)
	if len(places) == 0 || places[0] == "auto" || !slices.Contains(w.known, places[0]) {
		if value != nil && (len(places) == 0 || places[0] != "auto") {
			w.result.Differs(w.what+": "+where, "clients there are placed as if it were not there: it names no "+
				"datacenter")
		}
		return ""
	}
	after := append([]string{places[0]}, slices.DeleteFunc(slices.Clone(w.places), func(p string) bool {
		return p == places[0]
	})...)
	key := strings.Join(places, ", ")
	if !slices.Equal(after, places) && !w.nearest && !w.reported[key] {
		w.reported[key] = true
		w.result.Differs(w.what+": "+where, "when %s is down, the next are [%s], and were [%s]",
			places[0], strings.Join(after[1:], ", "), strings.Join(places[1:], ", "))
	}
	return places[0]
}

func (w *mapReader) continents(top *hash) {
	for _, code := range top.keys {
		if code == "default" {
			continue
		}
		continent, countries := strings.ToUpper(code), (*hash)(nil)
		value := top.of[code]
		if h, deeper := value.(*hash); deeper {
			value, countries = h.get("default"), h
		}
		if dc := w.list(code, value); dc != "" {
			region := w.result.Config.Region(dc)
			region.Continents = append(region.Continents, continent)
		}
		if countries != nil {
			w.countries(code, countries)
		}
	}
}

func (w *mapReader) countries(continent string, of *hash) {
	for _, code := range of.keys {
		if code == "default" {
			continue
		}
		where, value := continent+"/"+code, of.of[code]
		if h, deeper := value.(*hash); deeper {
			for _, key := range h.keys {
				if key != "default" {
					w.result.Left = append(w.result.Left, imports.Deviation{Record: w.what + ": " + where + "/" + key,
						Why: "a node distinguishes countries, not their subdivisions"})
				}
			}
			value = h.get("default")
		}
		if dc := w.list(where, value); dc != "" {
			region := w.result.Config.Region(dc)
			region.Countries = append(region.Countries, strings.ToUpper(code))
		}
	}
}

func (w *mapReader) networks(value any, g *imports.Geolocation) error {
	if name, file := value.(string); file {
		if filepath.IsAbs(name) {
			return fmt.Errorf("nets %s is not read: only files in the folder of the configuration are", name)
		}
		read, err := w.source.file("geoip/"+name, 0)
		if err != nil {
			return err
		}
		value = read
	}
	nets, _ := value.(*hash)
	if nets == nil {
		return nil
	}
	for _, cidr := range nets.keys {
		if dc := w.list(cidr, nets.of[cidr]); dc != "" {
			g.Mappings = append(g.Mappings, imports.Mapping{CIDR: cidr, Region: dc})
		}
	}
	return nil
}
