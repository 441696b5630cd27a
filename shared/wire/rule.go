package wire

// Rule is the rule of a rejection of a backend with CodePolicy. Since 1.2; 0 from a node of an earlier version.
type Rule uint8

// The rules, with their numbers on the wire.
const (
	RuleUnusable    Rule = 1 // unspecified, multicast or broadcast address, or an address with a zone
	RuleOwnListener Rule = 2 // the node itself listens at this address and port
	RuleNetworks    Rule = 3 // outside overwatch.agent_policies.<service>.allowed_cidrs
	RuleLoopback    Rule = 4 // loopback, without allowed_cidrs
	RuleLinkLocal   Rule = 5 // link-local, without allowed_cidrs
	RuleMetadata    Rule = 6 // metadata service of a cloud, without allowed_cidrs
	RuleWeight      Rule = 7 // weight out of range
	RuleName        Rule = 8 // the service name cannot be part of a backend id
)

var ruleTexts = []string{
	RuleUnusable: "a backend cannot have this address: it is unspecified, multicast or broadcast, or has a zone",
	RuleOwnListener: "the overwatch node itself listens at this address and port: give the backend another port, or " +
		"run it on another machine",
	RuleNetworks: "the address is outside overwatch.agent_policies.<service>.allowed_cidrs of the overwatch node: add " +
		"its network there, or correct the address",
	RuleLoopback: "loopback addresses need overwatch.agent_policies.<service>.allowed_cidrs on the overwatch node: " +
		"give the backend an address that clients reach",
	RuleLinkLocal: "link-local addresses need overwatch.agent_policies.<service>.allowed_cidrs on the overwatch node: " +
		"give the backend an address that clients reach",
	RuleMetadata: "this is the address of a cloud's metadata service, which needs " +
		"overwatch.agent_policies.<service>.allowed_cidrs on the overwatch node: correct the address",
	RuleWeight: "the weight is out of range: give a weight that the overwatch node's version accepts",
	RuleName:   "the service name cannot be part of a backend id: use letters, digits, '-', '_' and '.'",
}

// String returns the rule and its remedy as a text for people, "" for 0, and "rule N" for a rule of a later version.
func (r Rule) String() string {
	if r == 0 {
		return ""
	}
	return named(r, ruleTexts, "rule")
}
