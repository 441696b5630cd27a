package api

import "time"

// Limits of the HTTP API. The server refuses what is outside them; nothing is
// clamped.
const (
	// MaxBody is the largest request body, in bytes.
	MaxBody = 1 << 20
	// DefaultPageLimit is the number of list entries when limit is not given.
	DefaultPageLimit = 100
	// MaxPageLimit is the largest limit of a list.
	MaxPageLimit = 1000
	// MinWeight and MaxWeight bound the weight of a server.
	MinWeight = 1
	MaxWeight = 1000
	// DefaultServerWeight is the weight of a server that POST servers creates
	// without one, DefaultBackendWeight that of one that POST
	// domains/{name}/backends creates.
	DefaultServerWeight  = 100
	DefaultBackendWeight = 1
	// MaxDrain is the longest time that a drain may take.
	MaxDrain = 24 * time.Hour
	// MaxCustomSettings is the largest custom_settings of the preferences, as
	// JSON in bytes.
	MaxCustomSettings = 64 << 10
	// MaxComment is the longest comment, code or description of a region or
	// mapping, in characters.
	MaxComment = 500
	// MaxReason is the longest reason text of an override or a revocation, in
	// characters.
	MaxReason = 500
	// MaxSource is the longest source text of an override, in characters.
	MaxSource = 64
	// MaxExpiresIn is the longest life of an override that expires.
	MaxExpiresIn = 366 * 24 * time.Hour
	// DefaultExpiringDays is the threshold of GET overwatch/agents/expiring
	// when threshold_days is not given, and what status, metrics and the
	// agent's own warnings go by.
	DefaultExpiringDays = 60
	// MaxExpiringDays is the largest threshold_days: ten years, far beyond the
	// one year that an agent's certificate lives.
	MaxExpiringDays = 3650
	// ValidateTimeout bounds POST overwatch/validate.
	ValidateTimeout = 30 * time.Second
	// SyncTimeout bounds POST dnssec/sync.
	SyncTimeout = 45 * time.Second
	// DefaultAddress is the address of a node's API unless api.address says
	// otherwise, and where gslbctl looks for it.
	DefaultAddress = "127.0.0.1:8080"
)
