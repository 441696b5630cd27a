package dns_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gslb.internal/integration/harness/testbed"
)

// Without a database, and with invalid or malicious files, the node uses the previous client locations, and every query
// has an answer. This is also true while the file is replaced repeatedly.
//
// Fault 33: The geolocation database is missing, truncated, malicious, or replaced during reads. Lookups continue
// with the previous database.
func TestGeography_WhateverTheDatabaseFileIs(t *testing.T) {
	t.Parallel()
	r := startRouted(t)
	var asking sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	var answers atomic.Int64
	asking.Go(func() {
		for range testbed.Every(ctx, testbed.Pace) {
			if _, _, err := r.ask("geolocation", testbed.ClientUS); err != nil {
				t.Errorf("while the database is replaced: %v", err)
				return
			}
			answers.Add(1)
		}
	})
	good := []byte(testbed.Read(t, testbed.Databases+"GeoIP2-City-Test.mmdb"))
	put := func(content []byte) {
		t.Helper()
		if err := errors.Join(os.WriteFile(r.database+".new", content, 0o600),
			os.Rename(r.database+".new", r.database)); err != nil {
			t.Fatal(err)
		}
	}
	const failures = "gslb_geo_reload_failures_total"
	before := testbed.Metric(t, r.node, failures)
	bad := map[string][]byte{"truncated": good[:len(good)/2], "empty": nil,
		"garbage": []byte(strings.Repeat("garbage\n", 5000)), "without its description": good[:len(good)-200]}
	for name, content := range bad {
		put(content)
		testbed.HangUp(t, r.node) // or in five seconds, by itself
		testbed.Until(t, testbed.StartBound, "a database that is "+name+" to be refused", func(context.Context) error {
			if now := testbed.Metric(t, r.node, failures); now <= before {
				return fmt.Errorf("%v failures so far", now)
			}
			return nil
		})
		before = testbed.Metric(t, r.node, failures)
		r.answers(t, "geolocation", testbed.ClientUS, "b2 b3", 0)
	}
	for i := range 40 { // replaced while it is read
		if i%2 == 0 {
			put(good)
		} else if err := os.WriteFile(r.database, good[:len(good)*i/40], 0o600); err != nil { // in place, as nobody should
			t.Fatal(err)
		}
		testbed.Signal(t, r.node, syscall.SIGHUP)
		testbed.Pause(t.Context(), 50*time.Millisecond) // it is read meanwhile, or not yet
	}
	put(good)
	r.answers(t, "geolocation", testbed.ClientUS, "b2 b3", 0)
	cancel()
	asking.Wait()
	t.Logf("%d answers meanwhile, all good", answers.Load())

	// If the file is missing at the start, the node uses the first region and logs this.
	if err := errors.Join(r.node.Stop(), os.Remove(r.database)); err != nil {
		t.Fatal(err)
	}
	testbed.Start(t, r.node)
	s := r.site
	s.Ready(t, r.node)
	r.answers(t, "geolocation", testbed.ClientUS, "b1", 0)
	if loaded := testbed.Metric(t, r.node, "gslb_geo_database_loaded"); loaded != 0 {
		t.Errorf("gslb_geo_database_loaded is %v without a database", loaded)
	}
	testbed.Until(t, testbed.StartBound, "the node to say so",
		func(context.Context) error { return testbed.Said(r.node.Unit, "database_path", "no such file") })
	put(good)
	r.answers(t, "geolocation", testbed.ClientUS, "b2 b3", 0)
}
