package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// Limits of the texts of a domain.
const (
	maxDescription = 500 // characters
	maxTags        = 50
	maxTag         = 64 // characters
)

// DomainProblems returns the faults of a domain that are independent of other objects and of the node. Parsing checks
// the bounds of numbers. Keys are names of fields, such as https.alpn[0]. DomainProblems does not allocate for a valid
// domain.
func DomainProblems(d *Domain) (found settings.Problems) {
	add := func(key, value, format string, args ...any) {
		found = append(found, settings.Problem{Key: key, Value: value, Message: fmt.Sprintf(format, args...)})
	}
	algorithm := policy.FindAlgorithm(d.RoutingAlgorithm)
	if algorithm == nil {
		add("routing_algorithm", d.RoutingAlgorithm, "%s", algorithmRemedy(d.RoutingAlgorithm))
	}
	if d.FallbackAlgorithm != "" {
		found = append(found, fallbackProblems(d, algorithm)...)
	}
	for at, region := range d.Regions {
		if slices.Index(d.Regions, region) < at {
			add(fmt.Sprintf("regions[%d]", at), region, "is in this list already: keep one")
		}
	}
	switch policy.OnAllDown(d.OnAllDown) {
	case "", policy.ServFail, policy.LastHealthy, policy.All:
	default:
		words := []string{string(policy.ServFail), string(policy.LastHealthy), string(policy.All)}
		add("on_all_down", d.OnAllDown, "%s", settings.DidYouMean(d.OnAllDown, words))
	}
	switch {
	case d.Geofence == "":
	case d.Geofence != model.GeofenceStrict:
		add("geofence", d.Geofence, "use %s, or remove the key", model.GeofenceStrict)
	case len(d.Regions) == 0:
		add("geofence", d.Geofence, "requires regions: list the regions whose clients must stay in their region")
	}
	if _, ok := policy.ParseMinimum(d.MinHealthy); !ok {
		add("min_healthy", d.MinHealthy, "give a number of backends from 1 to %d, or a part of them from 1%% to 100%%",
			policy.MaxMinimum)
	}
	if f := d.LatencyConfig.SmoothingFactor; !(f > 0 && f <= 1) { // also false for NaN
		add("latency_config.smoothing_factor", strconv.FormatFloat(f, 'g', -1, 64),
			"give a number above 0 and up to 1; the smaller, the smoother")
	}
	if d.Flap.MaxDelay != 0 && d.Flap.MaxDelay < d.Flap.Delay {
		add("flap.max_delay", d.Flap.MaxDelay.String(), "is less than flap.delay, which is %s", d.Flap.Delay)
	}
	if share := d.Brake.Share; share != "" && !isPercent(share) {
		add("brake.share", share, "give a part of the serving backends, from 1%% to 99%%")
	}
	if d.Answer != AnswerAddress && d.Answer != AnswerCNAME {
		add("answer", d.Answer, "%s", settings.DidYouMean(d.Answer, []string{AnswerAddress, AnswerCNAME}))
	}
	found = append(found, d.RecordProblems()...)
	return append(found, textProblems(d)...)
}

// fallbackProblems returns the problem of a fallback algorithm that is unknown, unused, or equal to the routing
// algorithm.
func fallbackProblems(d *Domain, algorithm *policy.Algorithm) settings.Problems {
	one := func(message string) settings.Problems {
		return settings.Problems{{Key: "fallback_algorithm", Value: d.FallbackAlgorithm, Message: message}}
	}
	switch {
	case policy.FindAlgorithm(d.FallbackAlgorithm) == nil:
		return one(algorithmRemedy(d.FallbackAlgorithm))
	case algorithm != nil && !algorithm.MayLackData():
		return one(fmt.Sprintf("is never used, since %s never lacks data: remove it", d.RoutingAlgorithm))
	case d.FallbackAlgorithm == d.RoutingAlgorithm:
		return one("is the routing_algorithm: give another, or remove it")
	}
	return nil
}

// algorithmRemedy returns the correction of the name of an unknown routing algorithm.
func algorithmRemedy(found string) string {
	return "no such algorithm; " + settings.DidYouMean(found, policy.AlgorithmNames(policy.Algorithms()))
}

// textProblems returns the problems of the description and the tags.
func textProblems(d *Domain) (found settings.Problems) {
	add := func(key, value, format string, args ...any) {
		found = append(found, settings.Problem{Key: key, Value: value, Message: fmt.Sprintf(format, args...)})
	}
	notPrintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.RuneCountInString(d.Description) > maxDescription || strings.ContainsFunc(d.Description, notPrintable) {
		add("description", d.Description, "give at most %d printable characters", maxDescription)
	}
	return append(found, tagProblems(d.Tags)...)
}

// tagProblems returns the problems of the tags of an object.
func tagProblems(tags []string) (found settings.Problems) {
	add := func(key, value, format string, args ...any) {
		found = append(found, settings.Problem{Key: key, Value: value, Message: fmt.Sprintf(format, args...)})
	}
	if len(tags) > maxTags {
		add("tags", strconv.Itoa(len(tags)), "give at most %d tags", maxTags)
	}
	for at, tag := range tags {
		if key := "tags[" + strconv.Itoa(at) + "]"; !isTag(tag) {
			add(key, tag, "give 1 to %d printable characters, without commas and without spaces around them", maxTag)
		} else if slices.Contains(tags[:at], tag) {
			add(key, tag, "is in this list already: keep one")
		}
	}
	return found
}

// isTag reports whether a text is a valid tag: 1 to maxTag printable characters without commas or outer spaces.
func isTag(tag string) bool {
	unfit := func(r rune) bool { return !unicode.IsPrint(r) || r == ',' }
	return tag != "" && utf8.ValidString(tag) && utf8.RuneCountInString(tag) <= maxTag &&
		strings.TrimSpace(tag) == tag && !strings.ContainsFunc(tag, unfit)
}
