package model

import "time"

// Types of tokens.
const (
	TokenBearer = "bearer" // clients of the API send it (RFC 6750)
	TokenTSIG   = "tsig"   // a key for DNS UPDATE (RFC 8945)
)

// Algorithms of TSIG keys.
const (
	HMACSHA256 = "hmac-sha256"
	HMACSHA512 = "hmac-sha512"
)

// TokenTypes lists the types of tokens, and TSIGAlgorithms the algorithms of TSIG keys.
func TokenTypes() []string { return []string{TokenBearer, TokenTSIG} }

// TSIGAlgorithms lists the algorithms of TSIG keys.
func TSIGAlgorithms() []string { return []string{HMACSHA256, HMACSHA512} }

// Token is a credential for the API or for DNS UPDATE, which all nodes accept. Of a bearer token, nodes store only the
// hash.
type Token struct {
	// The name in the audit log: letters, digits, hyphens, underscores and dots, at most 64. Required. The name of a TSIG
	// key is a domain name.
	Name string `json:"name" write:"always" usage:"name in the audit log"`
	// `bearer` for clients of the API, or `tsig` for DNS UPDATE.
	Type string `key:"type" json:"type" default:"bearer" usage:"bearer for the API, or tsig for DNS UPDATE"`
	// The rights: `read`, `operate` or `admin`.
	Role string `key:"role" json:"role" default:"read" usage:"read, operate or admin"`
	// The algorithm of a TSIG key: `hmac-sha256` or `hmac-sha512`.
	Algorithm string `json:"algorithm,omitempty" usage:"algorithm of a TSIG key: hmac-sha256 or hmac-sha512"`
	// The objects and actions that the token is limited to.
	Scope TokenScope `json:"scope"`
	// The token is invalid from this time on. Default: never.
	ExpiresAt time.Time `json:"expires_at,omitzero" usage:"time from which on the token is invalid"`
	// A description of at most 500 printable characters.
	Comment string `json:"comment,omitempty" usage:"description"`
	// The actor who created the token.
	CreatedBy string `json:"created_by,omitempty" source:"node"`
	// The time of the last rotation.
	RotatedAt time.Time `json:"rotated_at,omitzero" source:"node"`
	// SHA-256 of a bearer token, in hexadecimal digits.
	Hash string `json:"hash,omitempty" source:"node" secret:"true"`
	// The hash before the last rotation, which is valid until PreviousUntil.
	PreviousHash  string    `json:"previous_hash,omitempty" source:"node" secret:"true"`
	PreviousUntil time.Time `json:"previous_until,omitzero" source:"node"`
	// The secret of a TSIG key, in base64. A node needs it to verify messages.
	Secret string `json:"secret,omitempty" source:"node" secret:"true"`
	Meta
}

// Key returns the name.
func (t *Token) Key() string { return t.Name }

// Shown returns the token without hashes and secret.
func (t *Token) Shown() *Token {
	shown := *t
	shown.Hash, shown.PreviousHash, shown.Secret, shown.Extra = "", "", "", nil
	return &shown
}

// IsExpired reports whether the token is invalid at a time because it has expired.
func (t *Token) IsExpired(at time.Time) bool { return !t.ExpiresAt.IsZero() && !at.Before(t.ExpiresAt) }
