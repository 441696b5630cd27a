package cli

import (
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

func (a *app) routingCommand() *cobra.Command {
	return cmdline.Group("routing", "Test and explain routing decisions",
		a.routingDecisionsCommand(), a.routingTestCommand(), a.routingAnswersCommand(),
		cmdline.Reading(a.whyCommand()),
		a.routingFlowsCommand(), a.routingAlgorithmsCommand())
}

// clientFlags select the client and the query of an explanation.
type clientFlags struct {
	req           api.RoutingTestRequest
	subnet, place string
}

// given reports whether the command line selects a client.
func (f *clientFlags) given() bool { return f.req.ClientIP != "" || f.subnet != "" || f.place != "" }

func (f *clientFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.req.ClientIP, "client", "", "`address` of a resolver or client")
	cmd.Flags().StringVar(&f.place, "place", "",
		"`latitude,longitude` of a client, instead of --client, such as 50.1,8.7")
	cmd.Flags().StringVar(&f.req.QueryType, "type", "A",
		model.RecordTypeNames()+"; for SRV, the name is such as _sip._tcp.app.example.com")
	cmd.Flags().StringVar(&f.subnet, "ecs", "",
		"`network` of the client in the EDNS client subnet option, such as 203.0.113.0/24")
	cmd.MarkFlagsMutuallyExclusive("client", "place")
	cmdline.Offer(cmd, "type", model.RecordTypes())
}

// request returns the request for the answer of a name.
func (f *clientFlags) request(cmd *cobra.Command, name string) (req api.RoutingTestRequest, err error) {
	req = f.req
	req.Domain = name
	if f.subnet != "" {
		req.EDNS = &api.RoutingEDNS{ClientSubnet: f.subnet}
	}
	switch {
	case f.place != "":
		req.Place, err = placeOf(f.place)
	case req.ClientIP == "" && f.subnet != "":
		network, err := netip.ParsePrefix(f.subnet)
		if err != nil {
			return req, fmt.Errorf("--ecs is %q: it must be a network, such as 203.0.113.0/24", f.subnet)
		}
		req.ClientIP = network.Addr().String()
	case req.ClientIP == "":
		return req, &cmdline.UsageError{Command: cmd.CommandPath(),
			Message: "--client is missing: give the address of the resolver, such as --client 192.0.2.1"}
	}
	return req, err
}

// explainName explains the answer of a name for a client.
func (a *app) explainName(cmd *cobra.Command, f *clientFlags, name string) error {
	req, err := f.request(cmd, name)
	if err != nil {
		return err
	}
	test, err := fleet.First(cmd.Context(), a.Fleet, fleet.CallWith((*api.Client).TestRouting, req))
	if err != nil {
		return err
	}
	return a.printExplanation(test)
}

func (a *app) routingTestCommand() *cobra.Command {
	var f clientFlags
	cmd := a.Watchable(&cobra.Command{
		Use:   "test <name>",
		Short: "Test the answer for a client; exit code 1 if there is no answer",
		Long: "test explains the answer that a client receives now. --client is the address of its resolver, or of\n" +
			"the client itself. --ecs adds the client network that the resolver sends; a node uses it only with\n" +
			"overwatch.geolocation.ecs_enabled. Without --client, the first address of this network is the client.\n" +
			"gslbctl geo test shows only the region of an address.",
		Example: "  gslbctl routing test app.example.com --client 203.0.113.7\n" +
			"  gslbctl routing test app.example.com --client 192.0.2.53 --ecs 203.0.113.0/24",
		Args:              cobra.ExactArgs(1),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.explainName(cmd, &f, args[0]) },
		ValidArgsFunction: a.CompleteArguments(domainNames),
	})
	f.add(cmd)
	return cmd
}

// placeOf parses the value of --place. The node validates the coordinates.
func placeOf(value string) (*api.Place, error) {
	north, east, _ := strings.Cut(value, ",")
	latitude, err := strconv.ParseFloat(strings.TrimSpace(north), 64)
	longitude, err2 := strconv.ParseFloat(strings.TrimSpace(east), 64)
	if err != nil || err2 != nil {
		return nil, fmt.Errorf("--place is %q: it must be latitude,longitude in degrees, such as 50.1,8.7", value)
	}
	return &api.Place{Latitude: latitude, Longitude: longitude}, nil
}

// printExplanation prints an explanation. It returns exit code 1 if the answer has no records.
func (a *app) printExplanation(test api.RoutingTest) error {
	r := &test.Result
	err := a.Print(test, func() string {
		return a.Text(explanationFacts(r)) + a.section(explanationBackends(r)) + a.section(explanationFactors(r)) +
			a.section(explanationWouldBe(r))
	})
	switch {
	case err == nil && r.Decision == api.RoutingNotFound:
		return fleet.NewError(fleet.Degraded, fmt.Sprintf("no domain %q is configured", r.Domain),
			&api.Error{Status: http.StatusNotFound})
	case err == nil && r.Decision == api.RoutingNoBackend:
		return &fleet.Error{Code: fleet.Degraded}
	}
	return err
}

// explanationFacts returns the facts of an explanation, one per line.
func explanationFacts(r *api.RoutingResult) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "NAME"}, {Name: r.Domain + " " + r.QueryType}}}
	client := r.ClientIP
	if r.ClientSubnet != "" {
		client = r.ClientSubnet + ", reported by " + r.ClientIP
	}
	if n := r.Nearby; n != nil {
		client = fmt.Sprintf("%s, in %s at %g,%g: %.0f km from there", client, n.Network, n.Latitude, n.Longitude,
			n.Kilometres)
	}
	place := "no region"
	if r.ClientRegion != "" {
		place = r.ClientRegion
	}
	t.Add(render.C("client"), render.C(client))
	t.Add(render.C("is in"), render.C(place+", by "+r.LocatedBy+inBrackets(r.ClientCountry)))
	t.Add(render.C("decision"), decisionCell(r.Decision))
	if r.Algorithm != "" {
		t.Add(render.C("algorithm"), render.C(r.Algorithm))
	}
	for _, record := range r.Answer {
		t.Add(render.C("answer"), render.C(record))
	}
	if r.SelectedBackend != nil || len(r.Answer) > 0 {
		t.Add(render.C("ttl"), render.C(strconv.Itoa(r.TTL)+" s"))
	}
	t.Add(render.C("ecs scope"), number(r.ECSScope))
	t.Add(render.C("snapshot"), render.C(fmt.Sprintf("%d, found in %.1f us", r.Generation, r.TimeMicros)))
	return t
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func decisionCell(kind api.RoutingDecisionKind) render.Cell {
	tone := render.Bad
	switch kind {
	case api.RoutingSuccess, api.RoutingOwnAnswer:
		tone = render.Good
	case api.RoutingFailover, api.RoutingFallback, api.RoutingNoData:
		tone = render.Warn
	}
	return render.Cell{Text: string(kind), Tone: tone}
}

func explanationBackends(r *api.RoutingResult) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "BACKEND"}, {Name: "REGION"}, {Name: "SHARE", Right: true},
		{Name: "WHY"}}}
	add := func(b *api.RoutingBackend, why string) {
		t.Add(render.Cell{Text: endpoint(b.Address, b.Port), Tone: render.Good}, orNone(b.Region), percentCell(b.Share),
			render.C(fmt.Sprintf("%s, weight %d", why, b.Weight)))
	}
	if r.SelectedBackend != nil {
		add(r.SelectedBackend, "selected")
	}
	for i := range r.Alternatives {
		add(&r.Alternatives[i], "alternative")
	}
	for _, x := range r.Excluded {
		t.Add(render.C(endpoint(x.Address, x.Port)), orNone(x.Region), render.C(render.None), render.C(x.Reason))
	}
	return t
}

func percentCell(share float64) render.Cell {
	return render.C(strconv.FormatFloat(100*share, 'f', 1, 64) + "%")
}

func explanationFactors(r *api.RoutingResult) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "FACTOR"}, {Name: "TYPE"}, {Name: "VALUE"}, {Name: "IMPACT"}}}
	for _, f := range r.Factors {
		t.Add(render.C(f.Name), render.C(f.Type), render.C(f.Value), render.C(f.Impact))
	}
	return t
}

func explanationWouldBe(r *api.RoutingResult) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "IF UP"}, {Name: "WOULD BE"}, {Name: "ANSWERS"}}}
	for _, w := range r.WouldBe {
		t.Add(render.C(w.IfUp), decisionCell(w.Decision), orNone(shares(w.Answers)))
	}
	return t
}

// section returns a table after an empty line, "" for a table without rows.
func (a *app) section(t *render.Table) string {
	if len(t.Rows) == 0 {
		return ""
	}
	return "\n" + a.Text(t)
}

func (a *app) routingAlgorithmsCommand() *cobra.Command {
	return cmdline.ListCommand(a.App, "algorithms", "List the routing algorithms with their settings",
		(*api.Client).RoutingAlgorithms, func(list api.RoutingAlgorithmList) *render.Table {
			t := &render.Table{Columns: []render.Column{{Name: "ALGORITHM"}, {Name: "TYPE"}, {Name: "DEFAULT"},
				{Name: "DESCRIPTION"}, {Name: "KEYS"}}}
			for _, x := range list.Algorithms {
				keys := strings.Join(slices.Sorted(maps.Keys(x.Parameters)), ", ")
				t.AddNamed(x.ID, render.C(x.ID), render.C(x.Type), render.C(render.YesNo(x.Default)),
					render.C(x.Description),
					orNone(keys))
			}
			return t
		})
}
