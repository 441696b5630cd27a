package fleet

// The environment variables of gslbctl.
const (
	EnvNodes   = "GSLB_API"     // nodes, separated by commas
	EnvDNS     = "GSLB_DNS"     // DNS addresses of these nodes, in the same order; unused without EnvNodes
	EnvContext = "GSLB_CONTEXT" // name of the context
	EnvFile    = "GSLB_CONFIG"  // path of the file of contexts

	// The following variables replace settings that the context omits.

	EnvToken      = "GSLB_TOKEN"
	EnvCA         = "GSLB_CA"
	EnvCert       = "GSLB_CLIENT_CERT"
	EnvKey        = "GSLB_CLIENT_KEY"
	EnvServerName = "GSLB_SERVER_NAME"
)
