package api

// Role is the set of rights of a token. Each role includes the rights of the previous roles.
type Role string

// The roles.
const (
	// RoleNone requires no token, even on a node with tokens.
	RoleNone Role = "none"
	// RoleRead permits reading everything.
	RoleRead Role = "read"
	// RoleOperate permits the work of an on-duty operator: overrides, drains, checks, revocations.
	RoleOperate Role = "operate"
	// RoleAdmin permits all changes.
	RoleAdmin Role = "admin"
)

// Roles lists the roles of tokens, in ascending order of rights.
func Roles() []Role { return []Role{RoleRead, RoleOperate, RoleAdmin} }
