package definitions

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
)

// Bounds of a domain of the API.
const (
	MaxTTL         = math.MaxInt32 // RFC 2181 section 8, seconds
	MaxDescription = 500           // characters
	MaxTags        = 50
	MaxTag         = 64 // characters
)

// EditDomain sets the fields of a change in a domain and checks the result. It ignores DNSSECEnabled, which
// depends on the node. After an error, d must not be used.
func EditDomain(d *store.Domain, change *api.DomainChange) error {
	if change.TTL != nil && *change.TTL < 1 {
		return ttlError(*change.TTL)
	}
	put(&d.TTL, change.TTL)
	put(&d.RoutingPolicy, change.RoutingPolicy)
	put(&d.FallbackAlgorithm, change.FallbackAlgorithm)
	put(&d.MinHealthy, change.MinHealthy)
	for _, field := range []struct{ to, value **int }{
		{&d.IPv4Prefix, &change.ClientHashIPv4Prefix}, {&d.IPv6Prefix, &change.ClientHashIPv6Prefix},
	} {
		if *field.value != nil {
			*field.to = *field.value
		}
	}
	if change.ProximityToleranceKm != nil {
		d.Tolerance = change.ProximityToleranceKm
	}
	if put(&d.Answer, change.Answer); change.Answer != nil && d.Answer == "" {
		return answerError("")
	}
	if d.Answer == config.AnswerAddress {
		d.Answer = ""
	}
	if h := change.HTTPS; h != nil {
		if d.HTTPS = h; len(h.ALPN) == 0 && h.Port == 0 && h.ECH == "" {
			d.HTTPS = nil
		}
	}
	put(&d.SRV, change.SRV)
	put(&d.Enabled, change.Enabled)
	put(&d.Description, change.Description)
	if change.Tags != nil {
		d.Tags = slices.Clone(*change.Tags)
	}
	if change.Regions != nil {
		d.Regions = append([]string{}, *change.Regions...)
	}
	return checkDomainFields(d)
}

// CheckDomain returns the first fault of a domain of the API that depends neither on other definitions nor on the
// configuration file.
func CheckDomain(d *store.Domain) error {
	name, remedy := settings.ParseService(d.Name)
	if remedy == "" && name != d.Name {
		remedy = fmt.Sprintf("it must be %q", name)
	}
	if remedy != "" {
		return fmt.Errorf("name is %.260q: %s", d.Name, remedy)
	}
	return errors.Join(checkDomainFields(d), CheckOwner(d.Owner))
}

func checkDomainFields(d *store.Domain) error {
	if d.TTL < 0 || d.TTL > MaxTTL {
		return ttlError(d.TTL)
	}
	if policy.Named(d.RoutingPolicy) == nil {
		return fmt.Errorf("routing_policy is %.64q: it must be one of %s", d.RoutingPolicy,
			listed(policy.Names(policy.Algorithms())))
	}
	if err := checkFallback(d); err != nil {
		return err
	}
	if _, ok := policy.ParseMinimum(d.MinHealthy); !ok {
		return fmt.Errorf(
			"min_healthy is %.64q: it must be a number of backends from 1 to %d, a part of them from 1%% to 100%%, or empty",
			d.MinHealthy, policy.MaxMinimum)
	}
	if err := checkAlgorithmSettings(d); err != nil {
		return err
	}
	if d.Answer != "" && d.Answer != config.AnswerCNAME {
		return answerError(d.Answer)
	}
	if err := CheckRecords(Domain(d)); err != nil {
		return err
	}
	if err := checkDescription(d.Description); err != nil {
		return err
	}
	if err := checkTags(d.Tags); err != nil {
		return err
	}
	return checkRegionList(d.Regions)
}

func ttlError(ttl int) error {
	return fmt.Errorf("ttl is %d: it must be from 1 to %d seconds", ttl, MaxTTL)
}

func answerError(kind string) error {
	return fmt.Errorf("answer is %.64q: it must be %s or %s", kind, config.AnswerAddress, config.AnswerCNAME)
}

// CheckRecords returns the first fault in the settings of a domain's HTTPS and SRV records.
func CheckRecords(d config.Domain) error {
	for _, p := range d.RecordProblems() {
		return fmt.Errorf("%s is %.64q: %s", p.Key, p.Value, p.Message)
	}
	return nil
}

// checkAlgorithmSettings checks the settings of proximity and client-hash.
func checkAlgorithmSettings(d *store.Domain) error {
	// NaN is in no range
	if km := d.Tolerance; km != nil && !(*km >= 0 && *km <= config.MaxTolerance) { //nolint:staticcheck // see above
		return fmt.Errorf("proximity_tolerance_km is %g: it must be from 0 to %d", *km, config.MaxTolerance)
	}
	for _, prefix := range []struct {
		field         string
		bits          *int
		lowest, limit int
	}{
		{"client_hash_ipv4_prefix", d.IPv4Prefix, config.MinIPv4Prefix, 32},
		{"client_hash_ipv6_prefix", d.IPv6Prefix, config.MinIPv6Prefix, config.MaxIPv6Prefix},
	} {
		if bits := prefix.bits; bits != nil && (*bits < prefix.lowest || *bits > prefix.limit) {
			return fmt.Errorf("%s is %d: it must be from %d to %d bits", prefix.field, *bits, prefix.lowest, prefix.limit)
		}
	}
	return nil
}

// checkFallback checks that the fallback exists, and that the domain's policy can lack data at all.
func checkFallback(d *store.Domain) error {
	switch fallback := d.FallbackAlgorithm; {
	case fallback == "":
	case policy.Named(fallback) == nil:
		return fmt.Errorf("fallback_algorithm is %.64q: it must be one of %s, or empty", fallback,
			listed(policy.Names(policy.Algorithms())))
	case !policy.Named(d.RoutingPolicy).MayLackData():
		return fmt.Errorf("fallback_algorithm is %q: the routing_policy %s never lacks data, so it must be empty", fallback,
			d.RoutingPolicy)
	case fallback == d.RoutingPolicy:
		return fmt.Errorf("fallback_algorithm is %q: it must be another than the routing_policy, or empty", fallback)
	}
	return nil
}

func checkRegionList(regions []string) error {
	seen := make(map[string]bool, len(regions))
	for _, region := range regions {
		if seen[region] {
			return fmt.Errorf("regions lists %q twice", region)
		}
		seen[region] = true
	}
	return nil
}

func checkTags(tags []string) error {
	if len(tags) > MaxTags {
		return fmt.Errorf("tags has %d entries: it must have at most %d", len(tags), MaxTags)
	}
	for i, tag := range tags {
		if !isTag(tag) {
			return fmt.Errorf("tags has %.260q: a tag must be 1 to %d characters that can be printed, without commas and "+
				"without spaces around it", tag, MaxTag)
		}
		if slices.Contains(tags[:i], tag) {
			return fmt.Errorf("tags lists %q twice", tag)
		}
	}
	return nil
}

func isTag(tag string) bool {
	unfit := func(r rune) bool { return !unicode.IsPrint(r) || r == ',' }
	return tag != "" && utf8.ValidString(tag) && utf8.RuneCountInString(tag) <= MaxTag &&
		strings.TrimSpace(tag) == tag && !strings.ContainsFunc(tag, unfit)
}

// checkDescription is CheckText for a text that may be empty.
func checkDescription(text string) error {
	if utf8.RuneCountInString(text) > MaxDescription || strings.ContainsFunc(text, notPrintable) {
		return fmt.Errorf("description must be at most %d characters that can be printed", MaxDescription)
	}
	return nil
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }

// CheckText returns an error for a text that is empty, longer than limit characters, or not printable.
func CheckText(field, text string, limit int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%s is missing: it must be a text of 1 to %d characters", field, limit)
	case utf8.RuneCountInString(text) > limit:
		return fmt.Errorf("%s has %d characters: at most %d are allowed", field, utf8.RuneCountInString(text), limit)
	case strings.ContainsFunc(text, notPrintable):
		return fmt.Errorf("%s has a character that cannot be printed, such as a line break", field)
	}
	return nil
}

// checkOptionalText is CheckText for a text that may be empty.
func checkOptionalText(field, text string, limit int) error {
	if text == "" {
		return nil
	}
	return CheckText(field, text, limit)
}

// CheckOwner returns an error for a text that cannot be the owner of an object. The empty text is valid.
func CheckOwner(owner string) error {
	if remedy := settings.LabelRemedy(owner, api.MaxOwner); owner != "" && remedy != "" {
		return fmt.Errorf("owner is %.70q: %s", owner, remedy)
	}
	return nil
}

// listed returns the words of a vocabulary, separated by commas.
func listed[S ~string](vocabulary []S) string {
	words := make([]string, len(vocabulary))
	for i, word := range vocabulary {
		words[i] = string(word)
	}
	return strings.Join(words, ", ")
}
