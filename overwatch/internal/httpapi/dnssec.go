package httpapi

import (
	"fmt"
	"strings"

	"github.com/gin-gonic/gin"

	"gslb.internal/overwatch/internal/dnssec"
	"gslb.internal/shared/api"
)

// SigningKeys are the keys of the zones that are signed.
type SigningKeys interface {
	// Keys lists them zone by zone, the oldest first.
	Keys() []dnssec.KeyState
}

// signingKeys is empty where answers are not signed.
func (s *Server) signingKeys() []dnssec.KeyState {
	if s.o.SigningKeys == nil {
		return nil
	}
	return s.o.SigningKeys.Keys()
}

// getDNSSECStatus answers GET /dnssec/status.
func (s *Server) getDNSSECStatus(*gin.Context) (answer, error) {
	status := api.DNSSECStatus{Enabled: s.o.SigningKeys != nil, Keys: []api.DNSSECKeyUse{}}
	for _, k := range s.signingKeys() {
		status.Keys = append(status.Keys, api.DNSSECKeyUse{
			KeyTag: int(k.Tag()), Zone: k.Zone(), Flags: dnssec.Flags, Algorithm: int(dnssec.Algorithm), CreatedAt: stamp(k.Created()),
			AgeSeconds: int64(s.o.Now().Sub(k.Created()).Seconds()), Active: k.Signing,
		})
	}
	return ok(status), nil
}

// listDSRecords answers GET /dnssec/ds with the records of the keys that
// sign.
func (s *Server) listDSRecords(*gin.Context) (answer, error) {
	list := api.DSRecords{Enabled: s.o.SigningKeys != nil, DSRecords: []api.DSRecord{}}
	for _, k := range s.signingKeys() {
		if !k.Signing {
			continue
		}
		ds := k.DS(0)
		digest := strings.ToUpper(ds.Digest)
		list.DSRecords = append(list.DSRecords, api.DSRecord{
			Zone: k.Zone(), KeyTag: int(ds.KeyTag), Algorithm: int(ds.Algorithm), DigestType: int(ds.DigestType), Digest: digest,
			DSRecord: fmt.Sprintf("%s IN DS %d %d %d %s", k.Zone(), ds.KeyTag, ds.Algorithm, ds.DigestType, digest),
		})
	}
	return ok(list), nil
}

// listDNSSECKeys answers GET /dnssec/keys with public halves only.
func (s *Server) listDNSSECKeys(*gin.Context) (answer, error) {
	list := api.DNSSECKeys{Enabled: s.o.SigningKeys != nil, Keys: []api.DNSSECKey{}}
	for _, k := range s.signingKeys() {
		list.Keys = append(list.Keys, api.DNSSECKey{
			Zone: k.Zone(), KeyTag: int(k.Tag()), Algorithm: int(dnssec.Algorithm), AlgorithmName: dnssec.AlgorithmName, Flags: dnssec.Flags,
			PublicKey: k.PublicKey(), CreatedAt: stamp(k.Created()), State: keyStates[k.State], OriginNode: k.Origin(),
		})
	}
	return ok(list), nil
}

var keyStates = map[dnssec.State]api.KeyState{
	dnssec.Published: api.KeyPublished, dnssec.Active: api.KeyActive, dnssec.Retired: api.KeyRetired,
}
