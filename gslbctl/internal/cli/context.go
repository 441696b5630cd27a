package cli

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/contexts"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
)

func (a *app) contextCommand() *cobra.Command {
	return cmdline.Group("context", "Manage contexts (named clusters)", a.contextListCommand(),
		cmdline.Reading(a.contextShowCommand()),
		cmdline.Changing(a.contextUseCommand()),
		cmdline.Changing(a.contextSetCommand()), cmdline.Destroying(a.contextDeleteCommand()))
}

// shownContext is a context without its secrets.
type shownContext struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	contexts.Context
	Token bool `json:"has_token"`
}

func showContext(f *contexts.File, name string) shownContext {
	c := f.Contexts[name]
	return shownContext{Name: name, Current: name == f.Current, Context: c, Token: c.Token != "" || c.TokenFile != ""}
}

func (a *app) contextListCommand() *cobra.Command {
	return a.Listing(&cobra.Command{
		Use:   "list",
		Short: "List contexts",
		RunE: func(*cobra.Command, []string) error {
			f, err := a.LoadContexts()
			if err != nil {
				return err
			}
			list := []shownContext{}
			t := &render.Table{
				Columns: []render.Column{{Name: "USED"}, {Name: "NAME"}, {Name: "NODES"}, {Name: "TOKEN"},
					{Name: "CLIENT CERTIFICATE"}, {Name: "CA", Wide: true}, {Name: "DNS", Wide: true}},
				Empty: "There is no context in " + f.Path() + ": make one with gslbctl context set NAME --api " +
					"host:port",
			}
			for _, name := range slices.Sorted(maps.Keys(f.Contexts)) {
				c := showContext(f, name)
				list = append(list, c)
				var apis, dns []string
				for _, n := range c.Nodes {
					apis, dns = append(apis, n.API), append(dns, orDefaultDNS(n))
				}
				used := ""
				if c.Current {
					used = "*"
				}
				t.AddNamed(name, render.C(used), render.C(name), render.C(strings.Join(apis, " ")),
					render.C(render.YesNo(c.Token)),
					render.C(render.YesNo(c.ClientCert != "")), orNone(c.CA), render.C(strings.Join(dns, " ")))
			}
			return a.List(list, t)
		},
	})
}

func orDefaultDNS(n contexts.Node) string {
	address, err := n.DNSAddress()
	if err != nil {
		return render.None
	}
	return address
}

func (a *app) contextShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "show [name]",
		Short:             "Show a context",
		Long:              "show prints a context without its token. Without a name, it prints the current context.",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteContext,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := a.LoadContexts()
			if err != nil {
				return err
			}
			name := f.Current
			if len(args) > 0 {
				name = args[0]
			}
			if name == "" {
				return errors.New("no context is in use: name one, or choose one with gslbctl context use")
			}
			if err := cmdline.CheckContext(f, name); err != nil {
				return err
			}
			shown := showContext(f, name)
			return a.Print(shown, a.Table(contextFacts(shown)))
		},
	}
}

func contextFacts(c shownContext) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "CONTEXT"}, {Name: c.Name}}}
	for _, n := range c.Nodes {
		t.Add(render.C("node"), render.C(n.API+" (DNS at "+orDefaultDNS(n)+")"))
	}
	for _, fact := range [][2]string{
		{"in use", render.YesNo(c.Current)}, {"token", render.YesNo(c.Token)}, {"token file", c.TokenFile}, {"CA",
			c.CA},
		{"client certificate", c.ClientCert}, {"client key", c.ClientKey}, {"server name", c.ServerName},
	} {
		t.Add(render.C(fact[0]), orNone(fact[1]))
	}
	return t
}

func (a *app) contextUseCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "use <name>",
		Short:             "Select the current context",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteContext,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.changeContexts("gslbctl uses the context "+args[0], func(f *contexts.File) error {
				f.Current = args[0]
				return cmdline.CheckContext(f, args[0])
			})
		},
	}
}

// changeContexts changes the contexts file and prints done.
func (a *app) changeContexts(done string, edit func(*contexts.File) error) error {
	path, err := a.ContextsPath()
	if err != nil {
		return err
	}
	if err := contexts.Change(path, edit); err != nil {
		return err
	}
	return a.Print(fleet.Result{Node: path, Success: true, Message: done},
		func() string { return render.Printable(done) + "\n" })
}

func (a *app) contextDeleteCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:               "delete <name>",
		Short:             "Delete a context",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteContext,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := a.LoadContexts()
			if err != nil {
				return err
			}
			if err := cmdline.CheckContext(f, args[0]); err != nil {
				return err
			}
			if err := a.ConfirmLocal(cmd.Context(), yes,
				"deleting the context "+args[0]+" forgets its nodes and its token"); err != nil {
				return err
			}
			return a.changeContexts("context "+args[0]+" is deleted", func(f *contexts.File) error {
				delete(f.Contexts, args[0])
				if f.Current == args[0] {
					f.Current = ""
				}
				return nil
			})
		},
	}
	cmdline.YesFlag(cmd, &yes)
	return cmd
}
