package definitions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unique"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// OverTarget is the kind of an API server with a host name. The server is stored as a setting, like an overlay, so that
// nodes of earlier versions store and forward it.
const OverTarget = "target"

// Limits of the API servers with host names. Each has up to 32 addresses, which the node resolves continuously.
const (
	MaxTargets      = 1_000
	MaxTargetCIDRs  = 32
	targetIDPattern = "<service>:<host name>:<port>"
)

// TargetID identifies a server with a host name.
type TargetID struct {
	Service, Name string // canonical
	Port          uint16
}

// String returns the id in the API, "<service>:<host name>:<port>".
func (t TargetID) String() string { return t.Service + ":" + t.Name + ":" + strconv.Itoa(int(t.Port)) }

// key returns the name of the setting that contains the server.
func (t TargetID) key() string { return OverlayKey(OverTarget, t.String()) }

// NewTargetID returns an id in its canonical form.
func NewTargetID(service, name string, port int) (TargetID, error) {
	canonical, remedy := settings.ParseHost(name)
	if remedy != "" {
		return TargetID{}, fmt.Errorf("target is %.260q: %s", name, remedy)
	}
	if port < 1 || port > 65535 {
		return TargetID{}, fmt.Errorf("port is %d: it must be from 1 to 65535", port)
	}
	served, remedy := settings.ParseService(service)
	if remedy != "" {
		return TargetID{}, fmt.Errorf("service is %.260q: %s", service, remedy)
	}
	return TargetID{served, canonical, uint16(port)}, nil
}

// ParseTargetID parses the result of String. It rejects an address instead of a host name, because servers with
// addresses have other ids.
func ParseTargetID(text string) (TargetID, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return TargetID{}, fmt.Errorf("id is %.300q: it must be %s", text, targetIDPattern)
	}
	port, err := strconv.Atoi(parts[2])
	if err != nil {
		return TargetID{}, fmt.Errorf("id is %.300q, whose port is no number: it must be %s", text, targetIDPattern)
	}
	return NewTargetID(parts[0], parts[1], port)
}

// TargetIDOf returns the id of a server by host name.
func TargetIDOf(s *model.Server) TargetID { return TargetID{s.Service, s.Target, s.Port} }

// CheckTarget returns the first fault of a server with a host name that is independent of other definitions.
func CheckTarget(t *model.Server) error {
	if err := errors.Join(CheckWeight(t.Weight), CheckAgent(t.Agent), CheckHost(t.Host)); err != nil {
		return err
	}
	if len(t.AllowedCIDRs) > MaxTargetCIDRs {
		return fmt.Errorf("allowed_cidrs has %d networks: at most %d are allowed", len(t.AllowedCIDRs), MaxTargetCIDRs)
	}
	for i, network := range t.AllowedCIDRs {
		if !network.IsValid() || network != network.Masked() {
			return fmt.Errorf("allowed_cidrs[%d] is %s: it must be a network without bits beyond its length, such as "+
				"192.0.2.0/24", i, network)
		}
	}
	return nil
}

// TargetCheck returns the check of a server with a host name: the settings of the server override the check of its
// region.
func TargetCheck(c *config.Config, t *model.Server) check.Spec {
	ofRegion := c.CheckIn(t.Region)
	ofRegion.Host = cmp.Or(t.Host, ofRegion.Host)
	h := t.HealthCheck.Over(model.HealthCheckOf(ofRegion))
	config.CompleteTimes(h, &c.Overwatch.Validation)
	return h.Spec()
}

// DecodeTarget decodes the stored form of a server by host name. Version 0.9.0 stores the service, target and port only
// in the id.
func DecodeTarget(id string, value json.RawMessage) (*model.Server, error) {
	known, err := ParseTargetID(id)
	if err != nil {
		return nil, err
	}
	if known.String() != id {
		return nil, fmt.Errorf("its name is %.300q: it must be %q", id, known)
	}
	t, err := model.Decode[model.Server](value)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	t.Service, t.Target, t.Port = known.Service, known.Name, known.Port
	return t, CheckTarget(t)
}

// Target returns a server by host name, or nil.
func (s *Set) Target(id TargetID) *model.Server {
	value := s.Settings[id.key()]
	if value == nil {
		return nil
	}
	t, err := DecodeTarget(id.String(), value)
	if err != nil { // CheckOverlay reports it
		return nil
	}
	return t
}

// Targets returns the servers with host names, sorted by id.
func (s *Set) Targets() (all []*model.Server) {
	for key, value := range s.Settings {
		kind, name, is := SplitOverlay(key)
		if !is || kind != OverTarget {
			continue
		}
		if t, err := DecodeTarget(name, value); err == nil { // CheckOverlay reports the error
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *model.Server) int { return TargetIDOf(a).Compare(TargetIDOf(b)) })
	return all
}

// Compare orders ids by service, name and port.
func (t TargetID) Compare(other TargetID) int {
	return cmp.Or(strings.Compare(t.Service, other.Service), strings.Compare(t.Name, other.Name),
		cmp.Compare(t.Port, other.Port))
}

// PutTarget adds or replaces a server by host name.
func (d *Draft) PutTarget(t *model.Server) error {
	value, err := model.Encode(t)
	if err == nil {
		d.PutSetting(TargetIDOf(t).key(), value)
	}
	return err
}

// DeleteTarget deletes a server by host name.
func (d *Draft) DeleteTarget(id TargetID) { d.PutSetting(id.key(), nil) }

// FileTargets returns the servers with host names of a configuration file.
func FileTargets(file *config.Config) map[TargetID]bool {
	all := make(map[TargetID]bool)
	if !file.HasTargets() {
		return all
	}
	for s := range file.StaticServers() {
		if s.Target != nil && !s.Made {
			all[TargetID{s.Service, s.Target.Name, s.Port}] = true
		}
	}
	return all
}

// targets adds the servers by host name in existing regions, enabled or not. A server of the file has precedence.
func (j *joining) targets(s *Set) {
	all := s.Targets()
	if len(all) == 0 {
		return
	}
	inFile := FileTargets(j.file)
	made := make([]config.StaticServer, 0, len(all))
	for _, t := range all {
		region := j.spelled.Of(t.Region)
		if _, there := j.known[region]; inFile[TargetIDOf(t)] || !there && s.Regions[region] == nil {
			continue
		}
		made = append(made, config.StaticServer{Service: t.Service, Region: region, Port: t.Port,
			Weight: t.Weight, Agent: t.Agent, Check: unique.Make(TargetCheck(j.result, t)), Made: true,
			Target: &config.Target{Name: t.Target, Allowed: t.AllowedCIDRs}})
	}
	j.result = j.result.WithMade(made)
}
