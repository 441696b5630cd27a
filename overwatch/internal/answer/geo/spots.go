package geo

import (
	"math"
	"net/netip"
)

// MaxSpots bounds the Spots, so that lists by spot and region stay small for any database.
const MaxSpots = 1 << 15

// finestGrid is the least distance of two positions that are distinguished, in degrees: at most 28 km. The grid
// becomes coarser where there would be more than MaxSpots. Positions in databases are of cities at best.
const finestGrid = 0.25

// SpotID is an index into Spots.List.
type SpotID uint16

// Spot is a ranking of regions and a position on the grid. Clients at one spot are answered alike.
type Spot struct {
	Region   RegionID
	Position *Position // nil: not known
}

// Spots maps addresses to spots. It is immutable.
type Spots struct {
	list []Spot
	v4   ranges4
	v6   ranges6
}

// List returns all spots. The first has no region and no position. The caller must not change the list.
func (s *Spots) List() []Spot { return s.list }

// Locate is Table.Locate for spots. A client has the position of the first region of its ranking if a mapping
// placed it, or if the database has no position.
func (s *Spots) Locate(client netip.Addr) (spot SpotID, scope uint8) {
	value, scope := locate(client, &s.v4, &s.v6)
	return SpotID(value), scope
}

// renumber replaces each ranking number n by numbers[n]. It accepts a nil s.
func (s *Spots) renumber(numbers []uint16) {
	if s == nil {
		return
	}
	for i := range s.list {
		s.list[i].Region = RegionID(numbers[s.list[i].Region])
	}
}

// compileSpots makes the grid coarser until there are few enough spots. On the coarsest grid they differ by region
// only. The rankings of the spots have provisional numbers.
func (b *builder) compileSpots() (*Spots, error) {
	for grid := finestGrid; ; grid *= 2 {
		c := cells{grid: grid, builder: b, ids: make(map[cell]uint16)}
		c.id(cell{}, nil)
		c.placed(Place{})
		if b.sources.Database != nil {
			for _, p := range b.sources.Database.places {
				if c.placed(p); c.full {
					break
				}
			}
		}
		if c.full && grid < 360 {
			continue
		}
		v4, v6, err := b.compile(layer{placed: c.placed, mapped: c.mapped})
		if err != nil {
			return nil, err
		}
		if !c.full || grid >= 360 { // mappings also make spots
			return &Spots{c.list, newRanges4(v4, nil), newRanges6(v6, nil)}, nil
		}
	}
}

// cells gives each spot that it is asked for a number, and lists the spots.
type cells struct {
	grid float64
	*builder
	ids  map[cell]uint16
	list []Spot
	full bool // more than MaxSpots were found, and some are missing
}

// cell identifies the positions that are one spot.
type cell struct {
	ranking             uint16
	where               where
	latitude, longitude int // in grid steps
}

// where is the source of a position.
type where uint8

const (
	unknown where = iota
	ofRegion
	ofDatabase
)

func (c *cells) placed(p Place) uint16 {
	number := c.byPlace(p)
	if p.Position == nil {
		return c.atRegion(number)
	}
	at := cell{ranking: number, where: ofDatabase, latitude: c.step(p.Position.Latitude),
		longitude: c.step(p.Position.Longitude)}
	return c.id(at, &Position{Latitude: c.middle(at.latitude, 90), Longitude: c.middle(at.longitude, 180)})
}

// mapped returns the spot of a mapping to a region over another spot.
func (c *cells) mapped(region, under uint16) uint16 {
	return c.atRegion(c.builder.mapped(region, uint16(c.list[under].Region)))
}

// atRegion returns the spot of clients that are where the first region of their ranking is.
func (c *cells) atRegion(number uint16) uint16 {
	if first := c.rankings[number]; len(first) > 0 && c.sources.Regions[first[0]].Position != nil {
		return c.id(cell{ranking: number, where: ofRegion}, c.sources.Regions[first[0]].Position)
	}
	return c.id(cell{ranking: number}, nil)
}

func (c *cells) step(degrees float64) int { return int(math.Round(degrees / c.grid)) }

func (c *cells) middle(step int, bound float64) float64 {
	return min(max(float64(step)*c.grid, -bound), bound)
}

func (c *cells) id(at cell, position *Position) uint16 {
	id, known := c.ids[at]
	if known {
		return id
	}
	if len(c.list) == MaxSpots {
		c.full = true
		return 0
	}
	id = uint16(len(c.list))
	c.ids[at] = id
	c.list = append(c.list, Spot{RegionID(at.ranking), position})
	return id
}
