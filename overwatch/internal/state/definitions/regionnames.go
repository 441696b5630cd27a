package definitions

import "gslb.internal/overwatch/internal/state/config"

// RegionNames returns the regions of a file and of the API.
func (s *Set) RegionNames(file *config.Config) config.RegionNames {
	names := config.NewRegionNames(file.Regions)
	for id := range s.Regions {
		names.Add(id)
	}
	return names
}
