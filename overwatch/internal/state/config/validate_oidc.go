package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// Limits of the sign-in.
const (
	maxOIDCRoles  = 100
	maxOIDCScopes = 32
	maxOIDCText   = 256 // octets of a client id, claim or group
)

// CallbackPath is the path of api.oidc.redirect_url.
const CallbackPath = "/auth/callback"

// isPartial reports whether a key of the sign-in is set that requires an issuer.
func (o *OIDC) isPartial() bool {
	return o.ClientID+o.ClientSecretFile+o.RedirectURL != "" || len(o.Roles) > 0
}

// oidc validates the keys of the sign-in.
func (v *validator) oidc(a *API) {
	const key = "api.oidc"
	o := &a.OIDC
	if o.Issuer == "" {
		if o.isPartial() {
			v.Add(key+".issuer", "", "is missing: set it to the URL of the provider, or remove api.oidc")
		}
		return
	}
	if u, err := url.Parse(o.Issuer); err != nil || !isSecure(u) || u.RawQuery+u.Fragment != "" || u.User != nil {
		v.Add(key+".issuer", o.Issuer, "must be an https URL without user, query and fragment, such as "+
			"https://login.example.com; http only for a provider on a loopback address")
	}
	if u, err := url.Parse(o.RedirectURL); err != nil || !isSecure(u) || u.Path != CallbackPath ||
		u.RawQuery+u.Fragment != "" || u.User != nil {
		v.Add(key+".redirect_url", o.RedirectURL, "must be the https URL of this node with the path "+CallbackPath+
			", such as https://ns1.example.com:8080"+CallbackPath+"; http only for a loopback address")
	}
	if !a.Console {
		v.Add(key+".issuer", o.Issuer, "the sign-in is for the console: set api.console to true, or remove api.oidc")
	}
	if len(a.Tokens.Admin) == 0 {
		v.Add(key+".issuer", o.Issuer, "requires a token in api.tokens.admin, which is valid if the provider is down")
	}
	for _, of := range []struct{ name, text string }{{"client_id", o.ClientID}, {"username_claim", o.UsernameClaim},
		{"groups_claim", o.GroupsClaim}} {
		if of.text == "" || len(of.text) > maxOIDCText {
			v.Addf(key+"."+of.name, of.text, "must have 1 to %d characters", maxOIDCText)
		}
	}
	if !slices.Contains(o.Scopes, "openid") || len(o.Scopes) > maxOIDCScopes {
		v.Addf(key+".scopes", "", "must contain openid, and at most %d scopes", maxOIDCScopes)
	}
	for i, scope := range o.Scopes {
		if !isToken(scope) && !isURL(scope) {
			v.Add(fmt.Sprintf("%s.scopes[%d]", key, i), scope, "must be a scope without spaces, such as groups")
		}
	}
	v.oidcRoles(key+".roles", o.Roles)
}

func (v *validator) oidcRoles(key string, roles []OIDCRole) {
	if len(roles) == 0 {
		v.Add(key, "", "is empty, and no person can sign in: add a group with a role")
	}
	if len(roles) > maxOIDCRoles {
		v.Addf(key, strconv.Itoa(len(roles)), "must have at most %d entries", maxOIDCRoles)
	}
	var groups []string
	for i := range roles {
		r, entry := &roles[i], fmt.Sprintf("%s[%d]", key, i)
		if r.Group == "" || len(r.Group) > maxOIDCText {
			v.Addf(entry+".group", r.Group, "must have 1 to %d characters", maxOIDCText)
		}
		if slices.Contains(groups, r.Group) {
			v.Add(entry+".group", r.Group, "an earlier entry has this group: remove one of them")
		}
		groups = append(groups, r.Group)
		v.oneOf(entry+".role", r.Role, []string{string(api.RoleRead), string(api.RoleOperate), string(api.RoleAdmin)})
		if err := CheckScope((*model.TokenScope)(&r.Scope)); err != nil {
			v.Add(entry+".scope", "", err.Error())
		}
	}
}

// isSecure reports whether a URL has the scheme https, or is of a loopback address.
func isSecure(u *url.URL) bool {
	at, err := netip.ParseAddr(u.Hostname())
	local := u.Hostname() == "localhost" || err == nil && at.IsLoopback()
	return u.Hostname() != "" && (u.Scheme == "https" || u.Scheme == "http" && local)
}

// isURL reports whether a text is an absolute URL, as some providers name scopes.
func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && u.Host != ""
}
