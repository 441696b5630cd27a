package config

// Dnstap contains the keys of [dnstap](dnstap.md): queries and responses for a consumer of the operator.
type Dnstap struct {
	// The dnstap consumer: `unix:` and the path of its socket, or a host and port for TCP, such as `unix:/run/dnstap.sock`
	// or `192.0.2.1:6000`. Default: no dnstap.
	Address string `key:"address" reload:"restart"`
	// The sampling interval N: the node sends one in N of the queries that the keys below select; 0: none.
	Sample int `key:"sample" default:"1" reload:"live" min:"0" max:"1000000"`
	// Only queries for these names and for names below them. Default: all names.
	Names []string `key:"names" reload:"live"`
	// Only queries of these types, such as `A`. Default: all types.
	Types []string `key:"types" reload:"live"`
	// Only queries with these outcomes: `success`, `nodata`, `nxdomain`, `refused`, `servfail`, `formerr`, `notimp`,
	// `badvers`, `notauth`. Default: all outcomes.
	Outcomes []string `key:"outcomes" reload:"live"`
}

// Filter returns the queries that the node sends by dnstap.
func (d *Dnstap) Filter() *QueryFilter { return &QueryFilter{d.Sample, d.Names, d.Types, d.Outcomes} }

// QueryLog contains the keys of the [query log](dnstap.md#query-log): a file of JSON lines.
type QueryLog struct {
	// The path of the file, in an existing directory. Default: no query log.
	File string `key:"file" reload:"restart"`
	// The sampling interval N: the node logs one in N of the queries that the keys below select; 0: none.
	Sample int `key:"sample" default:"1" reload:"live" min:"0" max:"1000000"`
	// Only queries for these names and for names below them. Default: all names.
	Names []string `key:"names" reload:"live"`
	// Only queries of these types, such as `A`. Default: all types.
	Types []string `key:"types" reload:"live"`
	// Only queries with these outcomes, as in `dns.dnstap.outcomes`. Default: all outcomes.
	Outcomes []string `key:"outcomes" reload:"live"`
	// The size of a file in MiB at which the node begins the next file.
	MaxSize int `key:"max_size" default:"100" reload:"restart" min:"1" max:"100000"`
	// The maximum number of files, including the current file. The node deletes the oldest file.
	MaxFiles int `key:"max_files" default:"5" reload:"restart" min:"1" max:"1000"`
	// The number of bits of an IPv4 client address in the log.
	IPv4Prefix int `key:"ipv4_prefix" default:"24" reload:"restart" min:"0" max:"32"`
	// The number of bits of an IPv6 client address in the log.
	IPv6Prefix int `key:"ipv6_prefix" default:"48" reload:"restart" min:"0" max:"128"`
}

// Filter returns the queries that the node logs.
func (l *QueryLog) Filter() *QueryFilter { return &QueryFilter{l.Sample, l.Names, l.Types, l.Outcomes} }

// QueryFilter selects queries.
type QueryFilter struct {
	Sample   int      // one in so many; 0: none
	Names    []string // with the names below them; empty: all
	Types    []string // empty: all
	Outcomes []string // empty: all
}

// Outcomes returns the outcomes that a QueryFilter can select.
func Outcomes() []string {
	return []string{"success", "nodata", "nxdomain", "refused", "servfail", "formerr", "notimp", "badvers", "notauth"}
}
