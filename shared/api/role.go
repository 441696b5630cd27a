package api

// Role is what the bearer of a token may do. Each role may do what those
// before it may.
type Role string

// The roles.
const (
	// RoleNone needs no token, even where tokens are configured.
	RoleNone Role = "none"
	// RoleRead sees everything and changes nothing.
	RoleRead Role = "read"
	// RoleOperate does what an operator on duty does: overrides, drains,
	// checks, revocations.
	RoleOperate Role = "operate"
	// RoleAdmin changes what is served and how.
	RoleAdmin Role = "admin"
)

// Roles lists the roles that a token can have, the least first.
func Roles() []Role { return []Role{RoleRead, RoleOperate, RoleAdmin} }
