package geo

import (
	"math"
	"net/netip"
)

// MaxLocations is the maximum number of client locations. It bounds lists by location and region for any database.
const MaxLocations = 1 << 15

// finestGrid is the finest grid of positions in degrees: at most 28 km. If there are more than MaxLocations, the grid
// becomes coarser. The positions of databases are at best positions of cities.
const finestGrid = 0.25

// LocationID is an index in Locations.List.
type LocationID uint16

// Location is a client location: a ranking of regions and a grid position. Clients at one location receive equal
// answers.
type Location struct {
	Region   RegionID
	Position *Position // nil if unknown
}

// Locations is the location table: it maps addresses to client locations. It is immutable.
type Locations struct {
	list []Location
	v4   ranges4
	v6   ranges6
}

// List returns all locations. The first has no region and no position. The caller must not change the list.
func (s *Locations) List() []Location { return s.list }

// Locate is Table.Locate for locations. A client has the position of its first region if a mapping determined the
// region or the database has no position.
func (s *Locations) Locate(client netip.Addr) (location LocationID, scope uint8) {
	value, scope := locate(client, &s.v4, &s.v6)
	return LocationID(value), scope
}

// renumber replaces each ranking number n by numbers[n]. It accepts a nil receiver.
func (s *Locations) renumber(numbers []uint16) {
	if s == nil {
		return
	}
	for i := range s.list {
		s.list[i].Region = RegionID(numbers[s.list[i].Region])
	}
}

// compileLocations compiles the locations with the finest possible grid. On the coarsest grid, locations differ only by
// region. The ranking numbers of the locations are provisional.
func (b *builder) compileLocations() (*Locations, error) {
	for grid := finestGrid; ; grid *= 2 {
		c := locationGrid{grid: grid, builder: b, ids: make(map[gridCell]uint16)}
		c.locationID(gridCell{}, nil)
		c.locationOfRecord(Record{})
		if b.sources.Database != nil {
			for _, p := range b.sources.Database.records {
				if c.locationOfRecord(p); c.tooManyLocations {
					break
				}
			}
		}
		if c.tooManyLocations && grid < 360 {
			continue
		}
		v4, v6, err := b.compileBlocks(layer{valueOfRecord: c.locationOfRecord, valueOfMapping: c.locationOfMapping})
		if err != nil {
			return nil, err
		}
		if !c.tooManyLocations || grid >= 360 { // mappings add locations
			return &Locations{c.list, newRanges4(v4, nil), newRanges6(v6, nil)}, nil
		}
	}
}

// locationGrid assigns ids to locations.
type locationGrid struct {
	grid float64
	*builder
	ids              map[gridCell]uint16
	list             []Location
	tooManyLocations bool // the locations exceed MaxLocations; some are missing
}

// gridCell identifies a location.
type gridCell struct {
	ranking             uint16
	source              positionSource
	latitude, longitude int // in grid steps
}

// positionSource is the source of a position.
type positionSource uint8

const (
	noPosition positionSource = iota
	regionPosition
	databasePosition
)

// locationOfRecord returns the location of a client with this database record.
func (c *locationGrid) locationOfRecord(p Record) uint16 {
	number := c.rankingOfRecord(p)
	if p.Position == nil {
		return c.locationOfRegion(number)
	}
	at := gridCell{ranking: number, source: databasePosition, latitude: c.gridStep(p.Position.Latitude),
		longitude: c.gridStep(p.Position.Longitude)}
	return c.locationID(at, &Position{Latitude: c.cellCenter(at.latitude, 90), Longitude: c.cellCenter(at.longitude, 180)})
}

// locationOfMapping returns the location for a mapping to a region. under is the location without the mapping.
func (c *locationGrid) locationOfMapping(region, under uint16) uint16 {
	return c.locationOfRegion(c.builder.rankingOfMapping(region, uint16(c.list[under].Region)))
}

// locationOfRegion returns the location at the position of the first region of a ranking.
func (c *locationGrid) locationOfRegion(number uint16) uint16 {
	if first := c.rankings[number]; len(first) > 0 && c.sources.Regions[first[0]].Position != nil {
		return c.locationID(gridCell{ranking: number, source: regionPosition}, c.sources.Regions[first[0]].Position)
	}
	return c.locationID(gridCell{ranking: number}, nil)
}

// gridStep converts degrees to grid steps.
func (c *locationGrid) gridStep(degrees float64) int { return int(math.Round(degrees / c.grid)) }

// cellCenter returns the center of a grid step in degrees, clamped to bound.
func (c *locationGrid) cellCenter(step int, bound float64) float64 {
	return min(max(float64(step)*c.grid, -bound), bound)
}

// locationID returns the id of the location of a cell, and adds the location if necessary.
func (c *locationGrid) locationID(at gridCell, position *Position) uint16 {
	id, known := c.ids[at]
	if known {
		return id
	}
	if len(c.list) == MaxLocations {
		c.tooManyLocations = true
		return 0
	}
	id = uint16(len(c.list))
	c.ids[at] = id
	c.list = append(c.list, Location{RegionID(at.ranking), position})
	return id
}
