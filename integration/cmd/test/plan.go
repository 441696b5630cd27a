package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// step is a command of a plan.
type step struct {
	name, about string
	dir         string   // from the top of the workspace
	env         []string // added to the environment of this process
	argv        []string
	tests       int  // minimum number of tests; 0: not a `go test` step
	live        bool // the output is shown immediately
}

// options are the inputs of a plan: the directory of the programs, and the duration of endless runs.
type options struct {
	bin    string
	length time.Duration
}

// units are the modules with tests that need no built program. The tests of the module integration need all programs.
// The long packages of gslbctl, which mostly wait, are first, so that no core is idle at the end.
var units = []string{"gslbctl", "overwatch", "shared", "agent", "packaging/launcher", "packaging/release"}

const integration = "integration"

// bench is the module of the benchmarks. Its tests show at a small size that the measurements work.
const bench = "integration/bench"

// smoke are the tests with real processes in the plan quick: a failover, a signed and validated answer, a change by the
// API.
var smoke = []string{
	"TestFailover_AgentProbeToDNSAnswerAndBack",
	"TestDNSSEC_ASignedAnswerIsValidated",
	"TestCreated_SurvivesAKillAndIsAnsweredBeforeTheCallReturns",
}

// plan returns the steps of a plan by its name, in stages: the steps of a stage run at the same time, the stages one
// after the other.
func plan(name string, o options) (stages [][]step, err error) {
	switch name {
	case "quick":
		return quick(o)
	case "rest":
		return rest(o)
	case "all":
		first, err := quick(o)
		if err != nil {
			return nil, err
		}
		stages, err = rest(o)
		return slices.Concat(first, stages), err
	case "long":
		return long(o)
	}
	return nil, fmt.Errorf("plan %q: give quick, rest, all or long", name)
}

func quick(o options) ([][]step, error) {
	where, err := packagesOf(integration, smoke)
	if err != nil {
		return nil, err
	}
	return [][]step{
		{{
			name: "vet", about: "go vet of every module",
			argv: append([]string{"go", "vet"}, packages(append(units, integration, bench)...)...),
		}},
		{{ // these processes mostly wait, while the unit tests compute
			name: "smoke", about: "real processes: a failover, a signed and validated answer, a change by the API",
			dir: integration, env: programs(o), tests: len(smoke),
			argv: goTest("10m", append([]string{"-count=1", "-run", exactly(smoke)}, where...)...),
		}, {
			name: "units", about: "unit tests", tests: 1,
			argv: goTest("20m", append([]string{"-short", "-vet=off", "-skip", "CPU_", atOnce()},
				packages(units...)...)...),
		}},
	}, nil
}

// atOnce is the flag for the number of packages that run at the same time. Packages also wait, so one package more than
// there are processors runs.
func atOnce() string { return fmt.Sprintf("-p=%d", runtime.NumCPU()+1) }

// race returns the step of the unit tests with the race detector, which needs a C compiler. Each package has one
// processor: the detector crashes if a timer of a synctest bubble runs on two processors
// (https://go.dev/issue/78156). The detector compares the order of events, so it finds races on one processor as well.
func race() (step, error) {
	concurrent, err := concurrentPackages(units)
	if err != nil {
		return step{}, err
	}
	argv := goTest("40m", append([]string{"-race", "-short", "-cpu=1", "-vet=off", atOnce()}, concurrent...)...)
	return step{name: "race", about: "unit tests with the race detector, of packages with goroutines", tests: 1,
		argv: argv}, nil
}

func rest(o options) ([][]step, error) {
	short, err := shortTests(units)
	if err != nil {
		return nil, err
	}
	waits, works, err := split()
	if err != nil {
		return nil, err
	}
	var alone []step
	for _, m := range append(slices.Clone(units), integration, bench) {
		alone = append(alone, step{
			name: "alone-" + strings.ReplaceAll(m, "/", "-"), about: "module " + m + " builds outside the workspace",
			dir: m, env: []string{"GOWORK=off"}, argv: []string{"go", "build", "-o", "/dev/null", "./..."},
		})
	}
	processes := slices.Clip([]string{"-count=1", "-p", "1", "-parallel", "3", "-skip", exactly(smoke)})
	beside := []step{
		{
			name: integration, about: "real processes: what integration/README.md promises",
			dir: integration, env: programs(o), tests: 1,
			argv: goTest("40m", append(processes, waits...)...),
		},
		{
			name: "work", about: "in parallel, tests that mostly compute: packages, terminals, browsers, chains of trust",
			dir: integration, env: programs(o), tests: 1,
			argv: goTest("40m", append(processes, works...)...),
		},
	}
	var detector []step
	if withRace() {
		one, err := race()
		if err != nil {
			return nil, err
		}
		detector = []step{one}
	}
	return append(inTurn(append(alone, step{
		name: "charts", about: "Helm renders the charts, and Kubernetes' types and our programs take what comes out",
		dir: "packaging/kubernetes/check", env: append(programs(o), "GOWORK=off"), tests: 5,
		argv: goTest("10m", "-count=1", "./..."),
	})),
		[]step{{
			name:  "exact",
			about: "promises about allocations and CPU time, and the full form of tests that are short elsewhere",
			tests: len(short),
			argv: goTest("10m", append([]string{"-run", "Alloc|CPU_|" + exactly(short)},
				packages("overwatch", "shared", "agent", "gslbctl")...)...),
		}},
		beside,
		detector,
		[]step{{
			name: "bench", about: "the benchmarks at a small size, and a fleet of agents",
			dir: bench, env: programs(o), tests: 2, argv: goTest("20m", "-count=1", "-p", "1", "./..."),
		}},
	), nil
}

// working are the directories of integration with tests that use the CPU most of the time, and measure no times.
var working = []string{".", "cmd", "cli", "console", "dnssec", "docs", "upgrade"}

// split returns the packages of integration with tests: waits contains packages that mostly wait, works the packages of
// working.
func split() (waits, works []string, err error) {
	all, err := packagesOf(integration, []string{"Test"})
	for _, p := range all {
		folder, _, _ := strings.Cut(strings.TrimPrefix(p, "./"), "/")
		if slices.Contains(working, folder) {
			works = append(works, p)
		} else {
			waits = append(waits, p)
		}
	}
	return waits, works, err
}

// long returns the steps of the nightly plan, each at its full size.
func long(o options) (stages [][]step, err error) {
	length, fuzz := 10*time.Minute, time.Minute
	if o.length > 0 {
		length, fuzz = o.length, o.length
	}
	// Each world runs at full size. flags are passed to the only package of the world.
	worldOf := func(module, name, about, tests string, flags ...string) step {
		names := strings.Fields(tests)
		where, missing := packagesOf(module, names)
		err = errors.Join(err, missing)
		args := slices.Concat([]string{"-count=1", "-p", "1", "-run", "^(" + strings.Join(names, "|") + ")"}, where, flags)
		return step{
			name: name, about: about, dir: module, env: append(programs(o), "GSLB_FULL=1"), tests: 1,
			argv: goTest("0", args...),
		}
	}
	world := func(name, about, tests string, flags ...string) step {
		return worldOf(integration, name, about, tests, flags...)
	}
	stages = inTurn([]step{
		{
			name: "store", about: "1 000 kills of a process that stores",
			dir: "overwatch", tests: 1,
			argv: goTest("60m", "-count=1", "-run", "^TestKill_", "./internal/state/store", "-kills=1000"),
		},
		{
			name: "replica", about: "10 000 random histories of cuts, crashes, old backups and wrong clocks",
			dir: "overwatch", tests: 1,
			argv: goTest("30m", "-count=1", "-run", "^TestSimulation_", "./internal/state/replica", "-histories=10000"),
		},
		{
			name: "replication", about: "2 000 random histories of replication with its stores, and an attacker",
			dir: "overwatch", tests: 1,
			argv: goTest("2h", "-count=1", "-run", "^TestSimulation_", "./internal/cluster/replication",
				"-histories=2000"),
		},
		{
			name: "rolls", about: "1 000 random histories of rolled keys, 1 000 of unsigned zones, as many cancelled halfway",
			dir: "overwatch", tests: 2,
			argv: goTest("30m", "-count=1", "-run", "^Test(Roll|Way)_", "./internal/answer/dnssec/roll", "-rolls=1000"),
		},
		{
			name: "model", about: "60 random histories, judged by a model",
			dir: "overwatch", tests: 1,
			argv: goTest("60m", "-count=1", "-run", "^TestAnswers_", ".", "-histories=60"),
		},
		{
			name: "idle", about: "idle connections to nine kinds of servers, for three idle timeouts of each",
			dir: "agent", tests: 1,
			argv: goTest("10m", "-count=1", "-run", "^TestConnection_RealServers$", "-parallel", "9", "./internal/monitor",
				"-idle=200s"),
		},
		world("restarts", "100 kills and starts of a node, 100 kills during writes by the API",
			"TestOverwatchCrash_ManyTimes TestCreated_Nothing"),
		world("document", "plans of 1 000 changes compared with answers, two pipelines and 100 kills of their node",
			"TestDocument_ThePart TestDocument_TwoOwners"),
		world("matrix", "floods, crowds, a frozen agent and a disk that hangs, at the size of the fault matrix",
			"TestAgentFrozen TestFlood_ TestCrowd_ TestDiskHangs_"),
		worldOf(bench, "fleet", "10 000 agents", "TestFleet"),
		world("upgrade", "the upgrade from 0.9.0 and back, and Prometheus with the dashboard and the alerts",
			"TestDashboard_HasData TestUpgrade"),
		world("chromium", "a browser that resolves through the node follows HTTPS records",
			"TestHTTPS_ChromiumGoesByTheRecord"),
		world("external-dns", "the real ExternalDNS of two clusters, built from the Go proxy, with servers of the same name",
			"TestExternalDNS_RealProgram", "-external-dns=v0.21.0"),
		world("dnstap", "the real dnstap consumer, built from the Go proxy, receives queries and responses",
			"TestDnstap_RealConsumer", "-dnstap=v0.4.0"),
		world("acme", "lego obtains a certificate of Pebble, built from the Go proxy, while a node is killed",
			"TestACME_", "-pebble=v2.8.0"),
		{
			name: "external-dns-chart", about: "the chart of ExternalDNS takes our values",
			dir: "packaging/kubernetes/check", env: append(programs(o), "GOWORK=off"), tests: 1,
			argv: goTest("10m", "-count=1", "-run", "^TestExternalDNS$", ".", "-external-dns=v0.21.0"),
		},
		world("soak", "random faults, every answer judged", "TestSoak_InvariantsHoldUnder", "-soak="+length.String()),
		world("ways", "the same between sites on networks that are cut, lossy and long",
			"TestSoak_InvariantsHoldBetween", "-soak="+length.String()),
		world("siege", "64 agents that mean ill", "TestSiege", "-siege="+length.String()),
		{
			name: "fuzz", about: "each fuzz target", live: true,
			argv: append([]string{"go", "run", "./integration/cmd/fuzz", "-time", fuzz.String()}, append(units, integration)...),
		},
	})
	return stages, err
}

// inTurn makes each step a separate stage.
func inTurn(steps []step) (stages [][]step) {
	for _, s := range steps {
		stages = append(stages, []step{s})
	}
	return stages
}

func flatten(stages [][]step) []step { return slices.Concat(stages...) }

func goTest(timeout string, args ...string) []string {
	return append([]string{"go", "test", "-json", "-timeout", timeout}, args...)
}

func packages(modules ...string) (patterns []string) {
	for _, m := range modules {
		patterns = append(patterns, "./"+m+"/...")
	}
	return patterns
}

// exactly returns a pattern for -run that matches tests by their whole names.
func exactly(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }

// withRace reports whether units run with the race detector, which needs a C compiler. On a machine without a compiler
// the step race is omitted. In CI a missing compiler is a failure.
func withRace() bool {
	_, err := exec.LookPath(envOr("CC", "cc"))
	return err == nil || os.Getenv("CI") == "true"
}

// programs returns the environment variable with the directory of the programs; empty if the tests must build them.
func programs(o options) []string {
	if o.bin == "" {
		return nil
	}
	return []string{"GSLB_BIN=" + o.bin}
}

func envOr(key, otherwise string) string {
	if value := os.Getenv(key); value != "" {
		return value
	}
	return otherwise
}
