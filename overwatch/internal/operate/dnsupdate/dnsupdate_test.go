package dnsupdate // inside: it uses the counts and the clock of a Handler

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/model"
)

const (
	testZone = "example.com."
	testKey  = "acme."
)

var (
	testSecret  = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("s", 32)))
	otherSecret = base64.StdEncoding.EncodeToString([]byte(strings.Repeat("o", 32)))
)

// world has records of the API, and a served A record of www.example.com that does not belong to the API.
type world struct {
	*Handler
	t       *testing.T
	set     *definitions.Set
	changes int
	fail    error // of the next changes
	scope   func(name, owner string) bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, set: &definitions.Set{}, scope: func(string, string) bool { return true }}
	var err error
	w.Handler, err = New(Options{
		HasKeys: func() bool { return true },
		Key: func(name string) (Key, bool) {
			return Key{Algorithm: "hmac-sha256", Secret: testSecret, Owner: "certs",
				Allows: func(name, owner string) bool { return w.scope(name, owner) }}, name == "acme"
		},
		ZoneOf: func(name string) (string, bool) {
			for _, apex := range []string{"sub.example.com", "example.com"} {
				if within(name, apex) {
					return apex, true
				}
			}
			return "", false
		},
		Types: func(name string) (fixed, balanced []uint16) {
			switch name {
			case "www.example.com":
				return []uint16{dns.TypeA}, nil
			case "app.example.com":
				return nil, []uint16{dns.TypeA}
			}
			return nil, nil
		},
		Published: func() *definitions.Set { return w.set },
		Served: func(string, uint16) []dns.RR {
			rr, err := dns.NewRR("www.example.com. 60 IN A 192.0.2.1")
			if err != nil {
				t.Fatal(err)
			}
			return []dns.RR{rr}
		},
		Change: func(_ context.Context, key string, _ netip.Addr, edit func(*definitions.Set) (operations.RecordEdit, error),
		) error {
			if key != "acme" {
				t.Errorf("the actor is %q", key)
			}
			e, err := edit(w.set)
			if err != nil {
				return err
			}
			if w.fail != nil {
				return w.fail
			}
			w.changes++
			next := w.set.Records.Edit()
			for _, key := range e.Delete {
				next.Delete(key)
			}
			for _, r := range e.Put {
				next.Put(r.Key(), r)
			}
			w.set = &definitions.Set{Records: next}
			return nil
		},
		ChallengeExpiry: func() time.Duration { return 24 * time.Hour },
		Registerer:      prometheus.NewRegistry(),
		Logger:          zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func within(name, zone string) bool { return name == zone || strings.HasSuffix(name, "."+zone) }

// has returns the records of the API in zone-file form without TTLs, in order.
func (w *world) has() (list []string) {
	for _, r := range w.set.Records.All() {
		list = append(list, r.Name+" "+r.Type+" "+r.Data)
	}
	slices.Sort(list)
	return list
}

// message returns an UPDATE message for testZone. Each prerequisite and change is a record in zone-file form; a leading
// ANY or NONE sets the class, and "ANY name type" has no data.
func message(t *testing.T, prerequisites, changes []string) *dns.Msg {
	t.Helper()
	m := new(dns.Msg)
	m.SetUpdate(testZone)
	m.Answer, m.Ns = records(t, prerequisites), records(t, changes)
	return m
}

func records(t *testing.T, lines []string) (list []dns.RR) {
	t.Helper()
	for _, line := range lines {
		class, rest, _ := strings.Cut(line, " ")
		fields := strings.Fields(rest)
		if class != "IN" && len(fields) == 2 {
			hdr := &dns.RR_Header{Name: fields[0], Rrtype: dns.StringToType[fields[1]], Class: dns.StringToClass[class]}
			list = append(list, &dns.ANY{Hdr: *hdr})
			continue
		}
		rr, err := dns.NewRR(rest)
		if err != nil {
			t.Fatal(err)
		}
		rr.Header().Class = dns.StringToClass[class]
		if class == "NONE" {
			rr.Header().Ttl = 0
		}
		list = append(list, rr)
	}
	return list
}

// sign returns the signed message in wire format, and its MAC.
func sign(t *testing.T, m *dns.Msg, key, algorithm, secret string, at time.Time) (wire []byte, mac string) {
	t.Helper()
	m.SetTsig(key, algorithm, 300, at.Unix())
	wire, mac, err := dns.TsigGenerate(m, secret, "", false)
	if err != nil {
		t.Fatal(err)
	}
	return wire, mac
}

// send sends a signed message, and checks the signature of the response.
func (w *world) send(m *dns.Msg) int {
	w.t.Helper()
	wire, mac := sign(w.t, m, testKey, dns.HmacSHA256, testSecret, time.Now())
	reply := w.Answer(w.t.Context(), wire, netip.MustParseAddr("192.0.2.9"))
	if err := dns.TsigVerify(slices.Clone(reply), testSecret, mac, false); err != nil {
		w.t.Errorf("the signature of the response: %v", err)
	}
	var r dns.Msg
	if err := r.Unpack(reply); err != nil {
		w.t.Fatal(err)
	}
	if !r.Response || r.Opcode != dns.OpcodeUpdate || r.Id != m.Id {
		w.t.Errorf("the header of the response: %+v", r.MsgHdr)
	}
	return r.Rcode
}

// Each prerequisite and change has the result of RFC 2136.
func TestAnswer_PrerequisitesAndChanges(t *testing.T) {
	one, two := `_acme-challenge.www.example.com TXT "one"`, `_acme-challenge.www.example.com TXT "two"`
	add := func(text string) string { return "IN " + strings.Replace(text, " TXT", ". 60 IN TXT", 1) }
	for _, tc := range []struct {
		name          string
		prerequisites []string
		changes       []string
		code          int
		after         []string // nil: the record one, as before
	}{
		{"adds", nil, []string{add(two)}, dns.RcodeSuccess, []string{one, two}},
		{"adds twice", nil, []string{add(one), add(one)}, dns.RcodeSuccess, []string{one}},
		{"deletes one", nil, []string{strings.Replace(add(one), "IN ", "NONE ", 1)}, dns.RcodeSuccess, []string{}},
		{"deletes a missing one", nil, []string{strings.Replace(add(two), "IN ", "NONE ", 1)}, dns.RcodeSuccess, nil},
		{"deletes a set", nil, []string{"ANY _acme-challenge.www.example.com. TXT"}, dns.RcodeSuccess, []string{}},
		{"deletes a name", nil, []string{"ANY _acme-challenge.www.example.com. ANY"}, dns.RcodeSuccess, []string{}},
		{"replaces", nil, []string{"ANY _acme-challenge.www.example.com. TXT", add(two)}, dns.RcodeSuccess, []string{two}},
		{"adds and deletes", nil, []string{add(two), "ANY _acme-challenge.www.example.com. TXT"}, dns.RcodeSuccess,
			[]string{}},
		{"name exists", []string{"ANY _acme-challenge.www.example.com. ANY"}, []string{add(two)}, dns.RcodeSuccess,
			[]string{one, two}},
		{"served name exists", []string{"ANY www.example.com. ANY"}, []string{add(two)}, dns.RcodeSuccess,
			[]string{one, two}},
		{"name is missing", []string{"ANY no.example.com. ANY"}, []string{add(two)}, dns.RcodeNameError, nil},
		{"name must be missing", []string{"NONE www.example.com. ANY"}, []string{add(two)}, dns.RcodeYXDomain, nil},
		{"set exists", []string{"ANY www.example.com. A"}, []string{add(two)}, dns.RcodeSuccess, []string{one, two}},
		{"set is missing", []string{"ANY www.example.com. AAAA"}, []string{add(two)}, dns.RcodeNXRrset, nil},
		{"set must be missing", []string{"NONE _acme-challenge.www.example.com. TXT"}, []string{add(two)},
			dns.RcodeYXRrset, nil},
		{"set has the data", []string{strings.Replace(add(one), " 60 ", " 0 ", 1)}, []string{add(two)}, dns.RcodeSuccess,
			[]string{one, two}},
		{"set has other data", []string{strings.Replace(add(two), " 60 ", " 0 ", 1)}, []string{add(two)},
			dns.RcodeNXRrset, nil},
		{"served set has the data", []string{"IN www.example.com. 0 IN A 192.0.2.1"}, []string{add(two)},
			dns.RcodeSuccess, []string{one, two}},
		{"prerequisite with a TTL", []string{add(one)}, []string{add(two)}, dns.RcodeFormatError, nil},
		{"outside the zone", nil, []string{"IN www.example.net. 60 IN A 192.0.2.1"}, dns.RcodeNotZone, nil},
		{"in a zone below", nil, []string{"IN a.sub.example.com. 60 IN A 192.0.2.1"}, dns.RcodeNotZone, nil},
		{"an invalid change leaves everything", nil, []string{add(two), "IN www.example.net. 60 IN A 192.0.2.1"},
			dns.RcodeNotZone, nil},
		{"a served set", nil, []string{"ANY www.example.com. A"}, dns.RcodeRefused, nil},
		{"a served record", nil, []string{"NONE www.example.com. 0 IN A 192.0.2.1"}, dns.RcodeRefused, nil},
		{"a name of the file", nil, []string{"ANY www.example.com. ANY"}, dns.RcodeRefused, nil},
		{"a load-balanced name", nil, []string{"ANY app.example.com. ANY"}, dns.RcodeRefused, nil},
		{"a load-balanced set", nil, []string{"ANY app.example.com. A"}, dns.RcodeRefused, nil},
		{"a load-balanced record", nil, []string{"NONE app.example.com. 0 IN A 192.0.2.7"}, dns.RcodeRefused, nil},
		{"a load-balanced set exists", []string{"ANY app.example.com. A"}, []string{add(two)}, dns.RcodeSuccess,
			[]string{one, two}},
		{"data of a load-balanced set", []string{"IN app.example.com. 0 IN A 192.0.2.7"}, []string{add(two)},
			dns.RcodeRefused, nil},
		{"the serial", nil, []string{"IN example.com. 60 IN SOA a. b. 99 1 1 1 1"}, dns.RcodeSuccess, nil},
		{"an alias beside records", nil, []string{"IN _acme-challenge.www.example.com. 60 IN CNAME a.example.com."},
			dns.RcodeSuccess, nil},
		{"upper case", nil, []string{"ANY _ACME-challenge.WWW.example.com. TXT"}, dns.RcodeSuccess, []string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			if code := w.send(message(t, nil, []string{add(one)})); code != dns.RcodeSuccess {
				t.Fatal(dns.RcodeToString[code])
			}
			if code := w.send(message(t, tc.prerequisites, tc.changes)); code != tc.code {
				t.Errorf("%s, want %s", dns.RcodeToString[code], dns.RcodeToString[tc.code])
			}
			want := tc.after
			if want == nil {
				want = []string{one}
			}
			if got := w.has(); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// A record of a challenge expires, other records do not. Both have the owner of the key.
// A repeated addition changes neither the end nor the owner of a record.
func TestAnswer_AddingAgainKeepsTheRecord(t *testing.T) {
	w := newWorld(t)
	ends := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	next := w.set.Records.Edit()
	for _, r := range []*model.Record{
		{Name: "t.example.com", Type: "TXT", Data: `"x"`, TTL: 60, ExpiresAt: ends, Meta: model.Meta{Owner: "shop"}},
		{Name: "c.example.com", Type: "CNAME", Data: "t.example.com.", TTL: 60, ExpiresAt: ends,
			Meta: model.Meta{Owner: "shop"}},
	} {
		next.Put(r.Key(), r)
	}
	w.set = &definitions.Set{Records: next}
	code := w.send(message(t, nil, []string{`IN t.example.com. 60 IN TXT "x"`,
		"IN c.example.com. 60 IN CNAME t.example.com."}))
	if code != dns.RcodeSuccess {
		t.Fatal(dns.RcodeToString[code])
	}
	for _, r := range w.set.Records.All() {
		if r.Owner != "shop" || !r.ExpiresAt.Equal(ends) {
			t.Errorf("%+v", r)
		}
	}
}

// A message that panics receives SERVFAIL, and a valid message is answered while forged messages arrive.
func TestHandler_SurvivesAPanicAndForgedMessages(t *testing.T) {
	w := newWorld(t)
	change := w.o.Change
	w.o.Change = func(context.Context, string, netip.Addr, func(*definitions.Set) (operations.RecordEdit, error)) error {
		panic("a fault")
	}
	m := message(t, nil, []string{"IN a.example.com. 60 IN A 192.0.2.1"})
	wire, _ := sign(t, m, testKey, dns.HmacSHA256, testSecret, time.Now())
	if reply := w.Answer(t.Context(), wire, netip.MustParseAddr("192.0.2.9")); len(reply) < 12 ||
		reply[3]&0xf != dns.RcodeServerFailure {
		t.Errorf("the response is %x", reply)
	}
	started, release := make(chan struct{}, 1), make(chan struct{})
	w.o.Change = func(ctx context.Context, key string, from netip.Addr,
		edit func(*definitions.Set) (operations.RecordEdit, error)) error {
		started <- struct{}{}
		<-release
		return change(ctx, key, from, edit)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	replies := make(chan int, MaxWaiting*4)
	submit := func(secret, name string) bool {
		wire, _ := sign(t, message(t, nil, []string{"IN " + name + " 60 IN A 192.0.2.1"}), testKey, dns.HmacSHA256, secret, time.Now())
		return w.Submit(wire, netip.MustParseAddr("192.0.2.9"), func(reply []byte) { replies <- int(reply[3] & 0xf) })
	}
	submit(testSecret, "a.example.com.")
	receive(t, started) // the disk is slow from now on
	for range MaxWaiting * 2 {
		for !submit(otherSecret, "b.example.com.") { // all are answered, and take no place of a valid message
			runtime.Gosched()
		}
	}
	for !submit(testSecret, "c.example.com.") {
		runtime.Gosched()
	}
	for range MaxWaiting * 2 {
		if code := receive(t, replies); code != dns.RcodeNotAuth {
			t.Fatalf("a forged message: %s", dns.RcodeToString[code])
		}
	}
	close(release)
	for range 2 {
		if code := receive(t, replies); code != dns.RcodeSuccess {
			t.Errorf("a valid message: %s", dns.RcodeToString[code])
		}
	}
	cancel()
	if err := receive(t, ended); err != nil {
		t.Error(err)
	}
}

// receive returns the next value of a channel. It fails after 30 s.
func receive[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(30 * time.Second):
		t.Fatal("no value within 30 s")
	}
	return value
}

// panicsOnce is a writer that panics at its first write.
type panicsOnce struct{ done bool }

func (p *panicsOnce) Write(text []byte) (int, error) {
	if !p.done {
		p.done = true
		panic("a fault")
	}
	return len(text), nil
}

// A panic during the verification is no valid signature: a forged message then changes no record.
func TestAnswer_APanicOfTheVerificationChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.o.Logger = zerolog.New(&panicsOnce{}) // writes a line about the invalid signature
	m := message(t, nil, []string{"IN a.example.com. 60 IN A 192.0.2.1"})
	wire, _ := sign(t, m, testKey, dns.HmacSHA256, otherSecret, time.Now())
	reply := w.Answer(t.Context(), wire, netip.MustParseAddr("192.0.2.9"))
	if len(reply) < 12 || reply[3]&0xf != dns.RcodeServerFailure || w.changes != 0 {
		t.Errorf("the response is %x, and there are %d changes", reply, w.changes)
	}
}

// A key with a large fudge does not extend the time in which a message can be repeated.
func TestAnswer_OldMessagesAreRejectedWithAnyFudge(t *testing.T) {
	w := newWorld(t)
	m := message(t, nil, []string{"IN a.example.com. 60 IN A 192.0.2.1"})
	m.SetTsig(testKey, dns.HmacSHA256, 65535, time.Now().Add(-tsigFudge*time.Second-time.Minute).Unix())
	wire, _, err := dns.TsigGenerate(m, testSecret, "", false)
	if err != nil {
		t.Fatal(err)
	}
	var r dns.Msg
	if err := r.Unpack(w.Answer(t.Context(), wire, netip.MustParseAddr("192.0.2.9"))); err != nil {
		t.Fatal(err)
	}
	if signature := r.IsTsig(); r.Rcode != dns.RcodeNotAuth || signature == nil || signature.Error != dns.RcodeBadTime {
		t.Errorf("the response: %v", &r)
	}
}

func TestAnswer_ChallengesExpire(t *testing.T) {
	w := newWorld(t)
	w.send(message(t, nil, []string{`IN _acme-challenge.a.example.com. 60 IN TXT "x"`, `IN a.example.com. 60 IN TXT "y"`}))
	for _, r := range w.set.Records.All() {
		expires := strings.HasPrefix(r.Name, "_acme-challenge.")
		if expires == r.ExpiresAt.IsZero() || expires && time.Until(r.ExpiresAt) > 25*time.Hour || r.Owner != "certs" {
			t.Errorf("%+v", r)
		}
	}
	if w.set.Records.Len() != 2 {
		t.Errorf("%d records", w.set.Records.Len())
	}
}

// Messages without a valid signature change nothing, and the response has the error of RFC 8945 section 5.2.
func TestAnswer_InvalidSignatures(t *testing.T) {
	change := []string{`IN a.example.com. 60 IN TXT "x"`}
	other := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("o", 32)))
	for _, tc := range []struct {
		name, key, algorithm, secret string
		at                           time.Time
		code                         int
		tsig                         uint16
	}{
		{"unsigned", "", "", "", time.Now(), dns.RcodeRefused, 0},
		{"unknown key", "other.", dns.HmacSHA256, testSecret, time.Now(), dns.RcodeNotAuth, dns.RcodeBadKey},
		{"wrong algorithm", testKey, dns.HmacSHA512, testSecret, time.Now(), dns.RcodeNotAuth, dns.RcodeBadKey},
		{"wrong secret", testKey, dns.HmacSHA256, other, time.Now(), dns.RcodeNotAuth, dns.RcodeBadSig},
		{"wrong clock", testKey, dns.HmacSHA256, testSecret, time.Now().Add(-time.Hour), dns.RcodeNotAuth,
			dns.RcodeBadTime},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w, m := newWorld(t), message(t, nil, change)
			wire, err := m.Pack()
			if tc.key != "" {
				wire, _ = sign(t, m, tc.key, tc.algorithm, tc.secret, tc.at)
			}
			if err != nil {
				t.Fatal(err)
			}
			var r dns.Msg
			if err := r.Unpack(w.Answer(t.Context(), wire, netip.MustParseAddr("192.0.2.9"))); err != nil {
				t.Fatal(err)
			}
			if r.Rcode != tc.code || w.changes != 0 {
				t.Errorf("%s, %d changes", dns.RcodeToString[r.Rcode], w.changes)
			}
			if sig := r.IsTsig(); (sig != nil) != (tc.tsig != 0) || sig != nil && sig.Error != tc.tsig {
				t.Errorf("TSIG %v", sig)
			}
		})
	}
}

// A repeated message gets the same response and changes nothing, also after the opposite change.
func TestAnswer_RepeatedMessageChangesNothing(t *testing.T) {
	w := newWorld(t)
	wire, _ := sign(t, message(t, nil, []string{`IN a.example.com. 60 IN TXT "x"`}), testKey, dns.HmacSHA256, testSecret,
		time.Now())
	for range 2 {
		w.Answer(t.Context(), slices.Clone(wire), netip.MustParseAddr("192.0.2.9"))
		w.send(message(t, nil, []string{"ANY a.example.com. ANY"}))
	}
	if len(w.has()) != 0 {
		t.Errorf("%q after the repetition", w.has())
	}
}

// A key changes only the names and owners of its scope.
func TestAnswer_ScopeOfTheKey(t *testing.T) {
	w := newWorld(t)
	r, err := definitions.NewRecord("a.example.com", "TXT", `"x"`, 60)
	if err != nil {
		t.Fatal(err)
	}
	r.Owner = "shop"
	w.set = &definitions.Set{Records: w.set.Records.Edit()}
	w.set.Records.Put(r.Key(), r)
	w.scope = func(name, owner string) bool { return owner == "certs" && name != "b.example.com" }
	for _, change := range []string{`IN a.example.com. 60 IN TXT "y"`, "ANY a.example.com. ANY", "ANY a.example.com. TXT",
		`NONE a.example.com. 0 IN TXT "x"`, `IN b.example.com. 60 IN TXT "y"`, "ANY b.example.com. TXT"} {
		if code := w.send(message(t, nil, []string{change})); code != dns.RcodeRefused {
			t.Errorf("%s: %s", change, dns.RcodeToString[code])
		}
	}
	if code := w.send(message(t, nil, []string{`IN c.example.com. 60 IN TXT "y"`})); code != dns.RcodeSuccess {
		t.Error(dns.RcodeToString[code])
	}
}

// A key that sends too fast receives SERVFAIL, and its messages change nothing. A rejected change is REFUSED.
func TestAnswer_BoundedRateAndErrors(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	w.o.Now = func() time.Time { return now }
	w.fail = fault.Conflictf("a.example.com is a domain")
	if code := w.send(message(t, nil, []string{`IN a.example.com. 60 IN TXT "x"`})); code != dns.RcodeRefused {
		t.Error(dns.RcodeToString[code])
	}
	w.fail = fault.Fullf("too many records")
	if code := w.send(message(t, nil, []string{`IN a.example.com. 60 IN TXT "y"`})); code != dns.RcodeServerFailure {
		t.Error(dns.RcodeToString[code])
	}
	w.fail = nil
	last := dns.RcodeSuccess
	for i := range burst { // equal messages would be repetitions
		last = w.send(message(t, nil, []string{fmt.Sprintf("IN a.example.com. 60 IN TXT z%d", i)}))
	}
	if last != dns.RcodeServerFailure || w.changes != burst-2 {
		t.Errorf("%s after %d changes", dns.RcodeToString[last], w.changes)
	}
	if failed, refused := w.results[dns.RcodeServerFailure].Load(), w.results[dns.RcodeRefused].Load(); failed != 3 ||
		refused != 1 {
		t.Errorf("counted %d SERVFAIL and %d REFUSED", failed, refused)
	}
}

// Submit drops messages beyond MaxWaiting and never blocks.
func TestSubmit_DropsWhatIsTooMuch(t *testing.T) {
	w := newWorld(t)
	for range MaxWaiting {
		if !w.Submit(nil, netip.Addr{}, nil) {
			t.Fatal("dropped too early")
		}
	}
	if w.Submit(nil, netip.Addr{}, nil) || w.dropped.Load() != 1 {
		t.Errorf("%d dropped", w.dropped.Load())
	}
}

// Any octets get a response or none, and no panic. Only a valid signature causes a change.
func FuzzAnswer(f *testing.F) {
	m := new(dns.Msg)
	m.SetUpdate(testZone)
	wire, err := m.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(wire)
	m.SetTsig(testKey, dns.HmacSHA256, 300, time.Now().Unix())
	signed, _, err := dns.TsigGenerate(m, testSecret, "", false)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(signed)
	f.Fuzz(func(t *testing.T, query []byte) {
		w, before := newWorld(t), slices.Clone(query)
		w.Answer(t.Context(), query, netip.MustParseAddr("192.0.2.9"))
		if w.changes > 0 && dns.TsigVerify(before, testSecret, "", false) != nil {
			t.Error("a change without a valid signature")
		}
	})
}

// FuzzEdit applies random sections of a message, as from the holder of a key.
func FuzzEdit(f *testing.F) {
	m := new(dns.Msg)
	m.SetUpdate(testZone)
	rr, err := dns.NewRR("a.example.com. 60 IN TXT x")
	if err != nil {
		f.Fatal(err)
	}
	m.Ns = []dns.RR{rr}
	wire, err := m.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(wire)
	f.Fuzz(func(t *testing.T, query []byte) {
		var m dns.Msg
		if m.Unpack(query) != nil {
			return
		}
		w := newWorld(t)
		u, err := w.read(&m, Key{Allows: func(string, string) bool { return true }})
		if err != nil {
			return
		}
		e, err := u.edit(w.set)
		if err != nil {
			return
		}
		for _, r := range e.Put {
			if err := definitions.CheckRecord(r); err != nil || !within(r.Name, "example.com") {
				t.Errorf("%+v: %v", r, err)
			}
		}
		if slices.ContainsFunc(e.Put, func(r *model.Record) bool { return slices.Contains(e.Delete, r.Key()) }) {
			t.Error("a record is added and deleted")
		}
	})
}
