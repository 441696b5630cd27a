package config

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
)

// Bounds of HTTPS records: an answer with the most of them, each at its longest, still fits into a message.
const (
	maxHTTPSAnswers = 16
	maxProtocols    = 8
	maxProtocol     = 32   // octets
	maxECH          = 1024 // octets
)

// https checks what a domain's HTTPS records say.
func (v *validator) https(d *Domain, key func(string) string) {
	h := &d.HTTPS
	if len(h.ALPN) == 0 {
		if h.Port != 0 || h.ECH != "" {
			v.Add(key("https.alpn"), "", "give the protocols, such as h2, or remove https: without them there are no "+
				"HTTPS records")
		}
		return
	}
	if len(h.ALPN) > maxProtocols {
		v.Addf(key("https.alpn"), fmt.Sprint(len(h.ALPN)), "give at most %d protocols", maxProtocols)
	}
	for at, id := range h.ALPN {
		switch {
		case !isProtocol(id):
			v.Addf(key(fmt.Sprintf("https.alpn[%d]", at)), id, "give a protocol as TLS names it, such as h2 or h3: "+
				"1 to %d letters, digits and any of ./_-", maxProtocol)
		case id == "http/1.1":
			v.Add(key(fmt.Sprintf("https.alpn[%d]", at)), id, "remove it: HTTPS records mean it by themselves (RFC 9460)")
		case slices.Index(h.ALPN, id) < at:
			v.Add(key(fmt.Sprintf("https.alpn[%d]", at)), id, "is in this list already: keep one")
		}
	}
	if d.MaxAnswers > maxHTTPSAnswers {
		v.Addf(key("max_answers"), fmt.Sprint(d.MaxAnswers), "give at most %d to a domain with https", maxHTTPSAnswers)
	}
	if _, err := h.ECHConfigs(); err != nil {
		v.Addf(key("https.ech"), h.ECH, "%v: give the ECHConfigList of the backends in base64", err)
	}
}

// isProtocol reports whether an ALPN protocol id is one that can be written in zone files as it is.
func isProtocol(id string) bool {
	for _, c := range []byte(id) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '-' || c > '9') && c != '_' { // - . / and digits
			return false
		}
	}
	return id != "" && len(id) <= maxProtocol
}

// ECHConfigs returns the octets of ECH, none where it is empty.
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
