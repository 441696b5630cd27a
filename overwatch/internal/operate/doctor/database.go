package doctor

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/oschwald/maxminddb-golang/v2"
)

// oldDatabase is the age of a geolocation database that misplaces many networks.
const oldDatabase = 60 * 24 * time.Hour

// database checks the age of the geolocation database.
func database(_ context.Context, p Node) []Finding {
	if p.Geo == "" {
		return nil
	}
	content, err := os.ReadFile(p.Geo) // not mapped: truncation of the file must not end this program
	if err != nil {
		return trouble("geolocation", err.Error(), "correct overwatch.geolocation.database_path")
	}
	db, err := maxminddb.OpenBytes(content)
	if err != nil {
		return trouble("geolocation", fmt.Sprintf("%s: %v", p.Geo, err), "get the file again; it is damaged or not an MMDB")
	}
	defer func() { _ = db.Close() }()
	built := time.Unix(int64(db.Metadata.BuildEpoch), 0).UTC() //nolint:gosec // as the file says
	text := fmt.Sprintf("%s (%s) of %s", p.Geo, db.Metadata.DatabaseType, built.Format(time.DateOnly))
	if time.Since(built) > oldDatabase {
		return advice("geolocation", text+" is old", "get a newer one; it is read when the file changes")
	}
	return fine("geolocation", text)
}
