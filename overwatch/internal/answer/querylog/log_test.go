package querylog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/querylog"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// running is a Log with a worker.
type running struct {
	*querylog.Log
	*querylog.Worker
	registry *prometheus.Registry
}

func newLog(t *testing.T, o querylog.Options) *running {
	t.Helper()
	r := &running{registry: prometheus.NewRegistry()}
	o.Registerer, o.Logger, o.IPv4Prefix, o.IPv6Prefix = r.registry, zerolog.Nop(), 24, 48
	log, err := querylog.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Log = log
	r.Worker = log.NewWorker(decisions.New(0, func() time.Time { return time.Unix(1000, 0) }).NewSocketRecorder())
	return r
}

// write runs the Log until it has written the entries of its queues.
func (r *running) write(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

// counts returns the values of the metrics by name and reason.
func (r *running) counts(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := r.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "gslb_query_log_")
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			all[name] = m.GetCounter().GetValue()
		}
	}
	return all
}

// example returns an entry of a load-balanced answer from 10.0.0.2 in us.
func example() *querylog.Entry {
	input := &policy.DecisionInput{
		Name: "app.test.", Number: 1, Generation: 57, Answers: 1, Rules: &policy.Rules{Algorithm: policy.Weighted, TTL: 30},
		Candidates: []policy.Candidate{
			{Address: netip.MustParseAddr("10.0.0.1"), Port: 80, Region: "eu", Weight: 1, Share: 1, MayServe: true},
			{Address: netip.MustParseAddr("10.0.0.2"), Port: 443, Region: "us", Weight: 1, Share: 1, MayServe: true},
		},
	}
	return &querylog.Entry{
		At: time.Unix(1_800_000_000, 5_000_000), Client: netip.MustParseAddr("192.0.2.77"), Name: []byte("\x03app\x04test\x00"),
		Type: 1, Outcome: "success", Selection: zone.Selection{Input: input, Lead: 1}, Decision: 12,
	}
}

func TestLog_WritesALineForEachEntry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.json")
	r := newLog(t, querylog.Options{Path: path, MaxSize: 1 << 20, MaxFiles: 2})
	r.Record(example())
	r.Record(&querylog.Entry{At: time.Unix(1_800_000_000, 0), Client: netip.MustParseAddr("2001:db8:1:2::3"),
		Name: []byte("\x03a\"b\x00"), Type: 65280, Outcome: "nxdomain", TCP: true, Truncated: true, Dropped: true})
	r.Record(&querylog.Entry{At: time.Unix(1_800_000_000, 0), Client: netip.MustParseAddr("192.0.2.1"),
		Name: []byte("\x00"), Type: 2, Outcome: "refused"})
	r.write(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"time":"2027-01-15T08:00:00.005Z","client":"192.0.2.0/24","protocol":"udp","name":"app.test","type":"A",` +
		`"outcome":"success","routing":"success","region":"us","backend":"10.0.0.2:443","decision":"1000-0-12",` +
		`"generation":57}
{"time":"2027-01-15T08:00:00Z","client":"2001:db8:1::/48","protocol":"tcp","name":"a\\\"b","type":"TYPE65280",` +
		`"outcome":"nxdomain","truncated":true,"dropped":true}
{"time":"2027-01-15T08:00:00Z","client":"192.0.2.0/24","protocol":"udp","name":".","type":"NS","outcome":"refused"}
`
	if string(text) != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&^0o640 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if got := r.counts(t); got["lines_total"] != 3 || got["dropped_total write_failed"] != 0 {
		t.Errorf("%v", got)
	}
}

// The files have at most their size and number, and the latest lines. A restart continues the current file.
func TestLog_RotatesWithinItsBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.json")
	const size = 10_000
	for run := range 40 {
		r := newLog(t, querylog.Options{Path: path, MaxSize: size, MaxFiles: 3})
		for i := range 10 {
			e := example()
			e.Decision = uint64(10*run + i)
			r.Record(e)
		}
		r.write(t)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	next := 0
	for _, file := range []string{path + ".2", path + ".1", path} {
		text, err := os.ReadFile(file)
		if err != nil || len(text) > size {
			t.Fatalf("%s has %d octets, %v", file, len(text), err)
		}
		for one := range strings.Lines(string(text)) {
			var line struct{ Decision string }
			if err := json.Unmarshal([]byte(one), &line); err != nil {
				t.Fatal(err)
			}
			if next > 0 && line.Decision != fmt.Sprintf("1000-0-%d", next) {
				t.Fatalf("%s, want %d", line.Decision, next)
			}
			if _, err := fmt.Sscanf(line.Decision, "1000-0-%d", &next); err != nil {
				t.Fatal(err)
			}
			next++
		}
	}
	if next != 400 {
		t.Errorf("the last line is %d", next-1)
	}
}

// A file that cannot be written is a fault until it can be written. Its lines are counted.
func TestLog_ReportsAFileThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	r := newLog(t, querylog.Options{Path: filepath.Join(dir, "queries.json"), MaxSize: 1 << 20, MaxFiles: 2})
	r.Record(example())
	r.write(t)
	if path, reason := r.Fault(); !strings.HasPrefix(path, dir) || !strings.Contains(reason, "no such file") {
		t.Errorf("%q, %q", path, reason)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.Record(example())
	r.write(t)
	if _, reason := r.Fault(); reason != "" {
		t.Error(reason)
	}
	if got := r.counts(t); got["lines_total"] != 1 || got["dropped_total write_failed"] != 1 {
		t.Errorf("%v", got)
	}
	var none *querylog.Log
	if _, reason := none.Fault(); reason != "" || none.NewWorker(nil) != nil {
		t.Error("a nil Log has a fault or a worker")
	}
}

func TestLog_ReportsAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	r := newLog(t, querylog.Options{Path: "/dev/full", MaxSize: 1 << 20, MaxFiles: 1})
	r.Record(example())
	r.write(t)
	if _, reason := r.Fault(); !strings.Contains(reason, "no space left") {
		t.Error(reason)
	}
	if got := r.counts(t)["dropped_total write_failed"]; got != 1 {
		t.Errorf("%v lines were dropped", got)
	}
}

// Without a reader, the queue drops the entries that do not fit.
func TestRecord_NeverWaits(t *testing.T) {
	r := newLog(t, querylog.Options{Path: filepath.Join(t.TempDir(), "queries.json"), MaxSize: 1 << 30, MaxFiles: 1})
	for range 5000 {
		r.Record(example())
	}
	r.write(t)
	if got := r.counts(t); got["lines_total"] != 4096 || got["dropped_total queue_full"] != 5000-4096 {
		t.Errorf("%v", got)
	}
}

func TestRecord_AllocatesNothing(t *testing.T) {
	r := newLog(t, querylog.Options{Path: filepath.Join(t.TempDir(), "queries.json"), MaxSize: 1 << 30, MaxFiles: 1})
	e := example()
	if n := testing.AllocsPerRun(100, func() { r.Record(e) }); n != 0 {
		t.Errorf("%.0f allocations", n)
	}
	var none *querylog.Worker
	none.Record(e)
}

// A writer and the reader pass each entry once.
func TestLog_WritesAllEntriesWhileTheyAreRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.json")
	r := newLog(t, querylog.Options{Path: path, MaxSize: 1 << 30, MaxFiles: 1})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()
	const entries = 20_000
	for i := range uint64(entries) {
		e := example()
		e.Decision = i
		r.Record(e)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := r.counts(t)
	if lines := strings.Count(string(text), "\n"); float64(lines) != got["lines_total"] ||
		got["lines_total"]+got["dropped_total queue_full"] != entries {
		t.Errorf("%d lines, %v", lines, got)
	}
}
