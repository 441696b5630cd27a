package api

import "time"

// Limits of the HTTP API. The server rejects values outside of them; it never clamps a value.
const (
	// MaxBody is the largest request body, in bytes.
	MaxBody = 1 << 20
	// DefaultPageLimit is the default of limit, the number of list entries.
	DefaultPageLimit = 100
	// MaxPageLimit is the largest limit of a list.
	MaxPageLimit = 1000
	// MinWeight and MaxWeight bound the weight of a server.
	MinWeight = 1
	MaxWeight = 1000
	// DefaultServerWeight is the default weight of a server created by POST servers, and DefaultBackendWeight of a
	// server created by POST domains/{name}/backends.
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
	// MaxExpiresIn is the longest lifetime of an override with an expiry.
	MaxExpiresIn = 366 * 24 * time.Hour
	// DefaultExpiringDays is the default of threshold_days of GET overwatch/agents/expiring. The status, the metrics
	// and the agent's own warnings use the same threshold.
	DefaultExpiringDays = 60
	// MaxExpiringDays is the largest threshold_days: ten years, far above the one year of an agent certificate.
	MaxExpiringDays = 3650
	// ValidateTimeout bounds POST overwatch/validate.
	ValidateTimeout = 30 * time.Second
	// SyncTimeout bounds POST dnssec/sync.
	SyncTimeout = 45 * time.Second
	// DefaultAddress is the default of api.address, and the default node of gslbctl.
	DefaultAddress = "127.0.0.1:8080"
)
