package model

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gslb.internal/shared/settings"
)

// Bounds of HTTPS records: an answer with the maximum number of records of maximum length still fits into a message.
const (
	maxHTTPSAnswers = 16
	maxProtocols    = 8
	maxProtocol     = 32   // octets
	maxECH          = 1024 // octets
)

// RecordProblems returns the faults of https and srv, each with its key in the domain.
func (d *Domain) RecordProblems() (found settings.Problems) {
	if len(d.HTTPS.ALPN) > 0 || d.HTTPS.Port != 0 || d.HTTPS.ECH != "" {
		found = d.httpsProblems()
	}
	if len(d.SRV) > 0 {
		found = append(found, d.srvProblems()...)
	}
	return found
}

func (d *Domain) httpsProblems() (found settings.Problems) {
	add := func(key, value, format string, args ...any) {
		found = append(found, settings.Problem{Key: key, Value: value, Message: fmt.Sprintf(format, args...)})
	}
	h := &d.HTTPS
	switch {
	case len(h.ALPN) == 0:
		add("https.alpn", "", "give the protocols, such as h2, or remove https: without them there are no HTTPS records")
		return found
	case len(h.ALPN) > maxProtocols:
		add("https.alpn", fmt.Sprint(len(h.ALPN)), "give at most %d protocols", maxProtocols)
	case h.Port < 0 || h.Port > math.MaxUint16:
		add("https.port", fmt.Sprint(h.Port), "give a number from 0 to 65535")
	case d.MaxAnswers > maxHTTPSAnswers:
		add("max_answers", fmt.Sprint(d.MaxAnswers), "give at most %d to a domain with https", maxHTTPSAnswers)
	}
	for at, id := range h.ALPN {
		key := fmt.Sprintf("https.alpn[%d]", at)
		switch {
		case !isProtocol(id):
			add(key, id, "give a protocol as TLS names it, such as h2 or h3: 1 to %d letters, digits and any of ./_-",
				maxProtocol)
		case id == "http/1.1":
			add(key, id, "remove it: HTTPS records mean it by themselves (RFC 9460)")
		case slices.Index(h.ALPN, id) < at:
			add(key, id, "is in this list already: keep one")
		}
	}
	if _, err := h.ECHConfigs(); err != nil {
		add("https.ech", h.ECH, "%v: give the ECHConfigList of the backends in base64", err)
	}
	if d.AnswersNames() {
		add("https.alpn", fmt.Sprint(h.ALPN), "conflicts with answer: cname, since a name with a CNAME record has no other "+
			"records (RFC 1034 section 3.6.2): remove one of the two")
	}
	return found
}

// isProtocol reports whether zone files can contain an ALPN protocol id without escapes.
func isProtocol(id string) bool {
	for _, c := range []byte(id) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '-' || c > '9') && c != '_' { // - . / and digits
			return false
		}
	}
	return id != "" && len(id) <= maxProtocol
}

// ECHConfigs returns the octets of ECH, or none if ECH is empty.
func (h *HTTPS) ECHConfigs() ([]byte, error) {
	if h.ECH == "" {
		return nil, nil
	}
	list, err := base64.StdEncoding.DecodeString(h.ECH)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is no base64: %w", err)
	case len(list) > maxECH:
		return nil, fmt.Errorf("it has %d octets, more than %d", len(list), maxECH)
	case len(list) <= 4 || int(binary.BigEndian.Uint16(list)) != len(list)-2:
		return nil, fmt.Errorf("its first two octets do not say its length")
	}
	return list, nil
}
