package api

// Role is the set of rights of a token. Each role includes the rights of the previous roles.
type Role string

// The roles.
const (
	// RoleNone needs no token, even where tokens are configured.
	RoleNone Role = "none"
	// RoleRead may read everything and change nothing.
	RoleRead Role = "read"
	// RoleOperate may do an on-duty operator's work: overrides, drains, checks, revocations.
	RoleOperate Role = "operate"
	// RoleAdmin may change everything that is served.
	RoleAdmin Role = "admin"
)

// Roles lists the roles that a token can have, the weakest first.
func Roles() []Role { return []Role{RoleRead, RoleOperate, RoleAdmin} }
