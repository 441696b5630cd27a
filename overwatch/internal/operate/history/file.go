package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"gslb.internal/shared/durable"
)

// maxFile bounds the file, in octets: about nine times the size of all points.
const maxFile = 8 << 20

// kept is the file format. A row contains the Unix time of a point, in seconds, and the values in the order of
// Names. A value is null if it was not measured.
type kept struct {
	Names  []string     `json:"names"`
	Minute [][]*float64 `json:"minute"`
	Hour   [][]*float64 `json:"hour"`
}

func (r *Recorder) save() error {
	r.mu.Lock()
	k := kept{Names: Names(), Minute: rows(r.minute.points), Hour: rows(r.hour.points)}
	r.mu.Unlock()
	text, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("encoding the history of metrics: %w", err)
	}
	temporary := r.o.Path + ".new"
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return os.Rename(temporary, r.o.Path)
}

func rows(points []Point) [][]*float64 {
	list := make([][]*float64, 0, len(points))
	for _, p := range points {
		at := float64(p.At.Unix())
		row := []*float64{&at}
		for _, v := range p.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				row = append(row, nil)
				continue
			}
			row = append(row, &v)
		}
		list = append(list, row)
	}
	return list
}

func (r *Recorder) load() error {
	text, err := durable.ReadFile(r.o.Path, maxFile)
	if err != nil || text == nil {
		return err
	}
	minute, hour, err := parse(text, r.o.Now())
	if err != nil {
		return err
	}
	r.minute.points, r.hour.points = minute, hour
	return nil
}

// parse parses a file. It omits old points and points in the future.
func parse(text []byte, now time.Time) (minute, hour []Point, err error) {
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return nil, nil, fmt.Errorf("it is not what was written: %w", err)
	}
	return points(&k, k.Minute, Minutes, time.Minute, now), points(&k, k.Hour, Hours, time.Hour, now), nil
}

// points parses rows. Values are NaN if the file lacks the metric.
func points(k *kept, rows [][]*float64, keep int, length time.Duration, now time.Time) []Point {
	names := Names()
	var list []Point
	for _, row := range rows {
		if len(row) != len(k.Names)+1 || row[0] == nil || *row[0] < 0 || *row[0] > float64(now.Unix()) {
			continue
		}
		p := Point{At: time.Unix(int64(*row[0]), 0).UTC(), Values: make([]float64, len(names))}
		if now.Sub(p.At) > time.Duration(keep)*length || (len(list) > 0 && !p.At.After(list[len(list)-1].At)) {
			continue
		}
		for i, name := range names {
			p.Values[i] = math.NaN()
			if at := slices.Index(k.Names, name); at >= 0 && row[at+1] != nil {
				p.Values[i] = *row[at+1]
			}
		}
		list = append(list, p)
	}
	return list[max(len(list)-keep, 0):]
}
