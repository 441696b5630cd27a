package conditions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// walkSignatures reports signatures whose renewal failed. Answers contain these signatures until they expire.
func (j *Judge) walkSignatures(to report) {
	if j.o.SignaturesEnd == nil {
		return
	}
	if count, first := j.o.SignaturesEnd(); count > 0 {
		to(api.SignaturesEnd, "", fixed(fmt.Sprintf("%d signatures were not renewed in time; the first expires %s: "+
			"the log of this node has the cause", count, moment(first)), "gslbctl dnssec status"))
	}
}

// walkKeyMismatches reports zones with answers that do not validate with cached records.
func (j *Judge) walkKeyMismatches(to report) {
	for _, m := range listed(j.o.KeyMismatches) {
		sentence := fmt.Sprintf("%s: validating resolvers may answer SERVFAIL until %s: %s; restore the missing key files "+
			"(*.aside, or a backup) and reload, or wait", m.Zone, moment(m.Until), m.Problem)
		if m.Until.IsZero() {
			sentence = fmt.Sprintf("%s: validating resolvers answer SERVFAIL: %s; compare the clock of this node with another "+
				"one, and restart the node", m.Zone, m.Problem)
		}
		to(api.SigningMismatch, m.Zone, fixed(sentence, "gslbctl dnssec check "+strings.TrimSuffix(m.Zone, ".")))
	}
}

// rollWaitsFor is the time for which a waiting key rollover is not reported, since nodes and parents need minutes.
const rollWaitsFor = 15 * time.Minute

// walkKeyRolls reports key rollovers that wait for an operator.
func (j *Judge) walkKeyRolls(to report) {
	for _, r := range listed(j.o.KeyRolls) {
		if j.o.Now().Sub(r.Since) >= rollWaitsFor {
			what := "the change of the signing key of " + r.Zone
			if r.Goal != "" {
				what = "the way of " + r.Zone + " to be " + r.Goal
			}
			to(api.KeyRollWaits, r.Zone, fixed(fmt.Sprintf("%s waits since %s: %s", what, moment(r.Since), r.Waits),
				"gslbctl dnssec rolls"))
		}
	}
}

// tlsEndsSoon is the remaining lifetime below which the expiry of an API certificate is reported.
const tlsEndsSoon = 30 * 24 * time.Hour

// walkCertificates reports certificates of the API that expire soon.
func (j *Judge) walkCertificates(to report) {
	for _, c := range listed(j.o.Certificates) {
		left := c.NotAfter.Sub(j.o.Now())
		if left > tlsEndsSoon {
			continue
		}
		to(api.TLSEnds, c.File+" "+c.Subject, func() (string, string) {
			verb := "ends"
			if left <= 0 {
				verb = "has ended"
			}
			return fmt.Sprintf("the certificate of %s in %s %s %s: replace it; the new certificate is used immediately",
				c.Subject, c.File, verb, moment(c.NotAfter)), "openssl x509 -noout -enddate -in " + c.File
		})
	}
}

// walkRegions reports agents in unknown regions: their backends serve, but no domain lists the region, and the region
// has no location.
func (j *Judge) walkRegions(to report) {
	if j.o.Regions == nil {
		return
	}
	known := j.o.Regions()
	isUnknown := func(a *registry.AgentState) bool {
		isOwn := func(id string) bool { return strings.EqualFold(id, a.Region) }
		return a.Region != "" && !a.HasLeft() && !slices.ContainsFunc(known, isOwn)
	}
	for _, a := range j.agents(isUnknown) {
		to(api.RegionUnknown, a.ID, func() (string, string) {
			return fmt.Sprintf("agent %s reports from region %q, which is not among regions: correct "+
				"agent.identity.region, or declare the region", a.ID, a.Region), "gslbctl regions list"
		})
	}
}

// walkFiles reports unusable files.
func (j *Judge) walkFiles(to report) {
	for _, file := range []struct {
		kind             api.ConditionKind
		fault            func() (path, reason string)
		meaning, command string
	}{
		{api.ConfigInvalid, j.o.ConfigFault, "the node cannot use the configuration file, and a restart may fail",
			"gslb-overwatch --validate --config "},
		{api.DatabaseUnusable, j.o.DatabaseFault, "the geolocation database cannot be used", "ls -l "},
		{api.QueryLogFails, j.o.QueryLogFault, "the query log cannot be written, and its lines are dropped", "df "},
	} {
		if file.fault == nil {
			continue
		}
		if path, reason := file.fault(); reason != "" {
			to(file.kind, path, fixed(file.meaning+": "+reason, file.command+path))
		}
	}
}
