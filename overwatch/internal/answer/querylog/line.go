package querylog

import (
	"encoding/json"
	"net/netip"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/state/zonefile"
)

// line is the JSON form of an entry.
type line struct {
	Time       time.Time `json:"time"`
	Client     string    `json:"client"`
	Protocol   string    `json:"protocol"`
	Name       string    `json:"name"` // without the final dot; "." is the root
	Type       string    `json:"type"`
	Outcome    string    `json:"outcome"`
	Routing    string    `json:"routing,omitempty"` // outcome of the decision
	Region     string    `json:"region,omitempty"`
	Backend    string    `json:"backend,omitempty"`
	Decision   string    `json:"decision,omitempty"`
	Generation uint64    `json:"generation,omitempty"`
	Truncated  bool      `json:"truncated,omitempty"`
	Dropped    bool      `json:"dropped,omitempty"`
}

// appendLine appends the line of an entry. It repeats the decision of a load-balanced answer.
func (l *Log) appendLine(out []byte, w *Worker, s *stored) []byte {
	text := line{
		Time: s.At.UTC(), Client: l.network(s.Client), Protocol: "udp", Name: zonefile.WireName(s.name[:s.length]),
		Type: zonefile.TypeName(s.Type), Outcome: s.Outcome, Truncated: s.Truncated, Dropped: s.Dropped,
	}
	if s.TCP {
		text.Protocol = "tcp"
	}
	if len(text.Name) > 1 {
		text.Name = strings.TrimSuffix(text.Name, ".")
	}
	if s.Selection.Input != nil {
		decision, selected := (&decisions.Decision{Selection: s.Selection}).Repeat()
		text.Routing, text.Generation = string(decision.Outcome), s.Selection.Input.Generation
		text.Decision = string(w.recorder.AppendID(nil, s.Decision))
		if selected != nil {
			text.Region, text.Backend = selected.Region, explain.Endpoint(selected)
		}
	}
	encoded, err := json.Marshal(text)
	if err != nil { // unreachable: the values are texts and numbers
		return out
	}
	return append(append(out, encoded...), '\n')
}

// network returns the network of a client according to the options.
func (l *Log) network(client netip.Addr) string {
	bits := l.o.IPv6Prefix
	if client.Is4() {
		bits = l.o.IPv4Prefix
	}
	network, err := client.Prefix(bits)
	if err != nil { // the zero address
		return ""
	}
	return network.String()
}
