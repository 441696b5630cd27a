package store

import (
	"encoding/json"
	"fmt"
	"time"
)

// Domain is a steered name that the API created.
type Domain struct {
	Name          string    `json:"name"`
	TTL           int       `json:"ttl"` // seconds; 0: the node's default
	RoutingPolicy string    `json:"routing_policy"`
	Regions       []string  `json:"regions"`
	Enabled       bool      `json:"enabled"`
	Description   string    `json:"description"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

// LoadDomains returns all domains that the API created, ordered by name.
func (s *Store) LoadDomains() (domains []Domain, err error) {
	err = s.read(bucketDomains, func(key, value []byte) error {
		var d Domain
		if err := json.Unmarshal(value, &d); err != nil {
			return fmt.Errorf("domain %q: %w", key, err)
		}
		domains = append(domains, d)
		return nil
	})
	return domains, err
}

// PutDomain stores a domain in place of the one of its name, if any.
func (s *Store) PutDomain(d Domain) error {
	value, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encoding the domain %s: %w", d.Name, err)
	}
	return s.keep(func(w *writer) { w.put(bucketDomains, []byte(d.Name), value) })
}

// DeleteDomain deletes a domain. That there is none is no error.
func (s *Store) DeleteDomain(name string) error {
	return s.keep(func(w *writer) { w.delete(bucketDomains, []byte(name)) })
}
