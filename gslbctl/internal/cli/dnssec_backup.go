package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/miekg/dns"
	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/keybackup"
	"gslb.internal/gslbctl/internal/render"
)

// keyFolder is the directory of a node's signing keys in a package installation.
const keyFolder = "/var/lib/gslb/dnssec"

// keptKey describes a key in the output of backup and restore.
type keptKey struct {
	Zone      string     `json:"zone"`
	KeyTag    int        `json:"key_tag"`
	CreatedAt *time.Time `json:"created_at"` // null: the file has no creation time
	Action    string     `json:"action,omitempty"`
	Reason    string     `json:"reason,omitempty"`
}

// keptKeys is the output of backup and restore.
type keptKeys struct {
	File    string    `json:"file"`
	MadeAt  time.Time `json:"made_at"`
	MadeOn  string    `json:"made_on"` // name of the machine
	Changed bool      `json:"changed"` // the command has written the file or changed the key directory
	Keys    []keptKey `json:"keys"`
}

// keyBackupFlags are the flags of backup and restore.
type keyBackupFlags struct {
	folder     string
	zones      []string
	dryRun     bool
	passphrase cmdline.PassphraseFlags
}

func (a *app) dnssecBackupCommand() *cobra.Command {
	var f keyBackupFlags
	cmd := &cobra.Command{
		Use:   "backup <file>",
		Short: "Back up the signing keys of the local node",
		Long: "backup encrypts the signing keys of all zones of the local node. Run it on its machine, as the user of\n" +
			"the node or as root: the API never sends private keys. The file must not exist. Its format is age:\n" +
			"without gslbctl, age -d FILE | tar x opens it. backup sends no request and changes no key.",
		Example: "  gslbctl dnssec backup /var/backups/gslb-keys.age",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.dnssecBackup(cmd.Context(), args[0], f) },
	}
	f.add(cmd)
	return cmd
}

func (f *keyBackupFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.folder, "keys", keyFolder, "`folder` of the keys: dnssec in the data_dir of the node")
	f.passphrase.Add(cmd)
}

func (a *app) dnssecBackup(ctx context.Context, path string, f keyBackupFlags) error {
	files, keys, err := keybackup.Read(f.folder)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists already: give another name, such as with the date in it", path)
	}
	passphrase, err := a.Passphrase(ctx, f.passphrase, true)
	if err != nil {
		return err
	}
	host, _ := os.Hostname() // only for people
	b := &keybackup.Backup{MadeAt: a.Now().UTC(), Host: host, Files: files, Keys: keys}
	if err := keybackup.Write(path, passphrase, b); err != nil {
		return err
	}
	out := keptKeys{File: path, MadeAt: b.MadeAt, MadeOn: host, Changed: true, Keys: []keptKey{}}
	for _, k := range keys {
		out.Keys = append(out.Keys, keptKeyOf(k))
	}
	return a.Print(out, func() string {
		return fmt.Sprintf("%s has %s. The file cannot be opened without its passphrase: store the passphrase "+
			"separately.\n",
			path, render.Count(len(keys), "key", "keys"))
	})
}

func keptKeyOf(k keybackup.Key) keptKey {
	kept := keptKey{Zone: k.Zone, KeyTag: int(k.Tag)}
	if !k.Created.IsZero() {
		kept.CreatedAt = &k.Created
	}
	return kept
}

func (a *app) dnssecRestoreCommand() *cobra.Command {
	var f keyBackupFlags
	cmd := &cobra.Command{
		Use:   "restore <file>",
		Short: "Restore the signing keys of the local node",
		Long: "restore adds the missing keys of a backup to the key directory, all or none, with the owner of the\n" +
			"directory. It overwrites no file. If the directory has a newer state of a key, such as a removed\n" +
			"key, restore reports the key and changes nothing. A running node loads the keys at gslbctl config\n" +
			"reload, a stopped node at its start.",
		Example: "  gslbctl dnssec restore /var/backups/gslb-keys.age --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.dnssecRestore(cmd.Context(), args[0], f) },
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the changes, change nothing")
	cmd.Flags().StringArrayVar(&f.zones, "zone", nil,
		"restore only the keys of this `zone`; repeat the flag for several zones")
	return cmd
}

func (a *app) dnssecRestore(ctx context.Context, path string, f keyBackupFlags) error {
	if err := keybackup.Check(path); err != nil {
		return err
	}
	passphrase, err := a.Passphrase(ctx, f.passphrase, false)
	if err != nil {
		return err
	}
	b, err := keybackup.Load(path, passphrase)
	if err != nil {
		return err
	}
	steps, err := keybackup.Plan(f.folder, b, each(f.zones, dns.CanonicalName))
	if err != nil {
		return err
	}
	has := func(action keybackup.Action) bool {
		return slices.ContainsFunc(steps, func(s keybackup.Step) bool { return s.Action == action })
	}
	refused := has(keybackup.Refuse)
	changes := has(keybackup.Add) && !refused && !f.dryRun
	if changes {
		if err := keybackup.Apply(f.folder, steps); err != nil {
			return fmt.Errorf("%w; %s", err, fleet.NothingChanged)
		}
	}
	out := keptKeys{File: path, MadeAt: b.MadeAt, MadeOn: b.Host, Changed: changes, Keys: []keptKey{}}
	for _, s := range steps {
		k := keptKeyOf(s.Key)
		k.Action, k.Reason = string(s.Action), s.Reason
		out.Keys = append(out.Keys, k)
	}
	if err := a.Print(out, func() string { return a.restoreText(out) }); err != nil || !refused {
		return err
	}
	return &fleet.Error{Code: fleet.Degraded, Message: fleet.NothingChanged +
		": the folder has something newer; --zone restores other zones alone"}
}

func (a *app) restoreText(out keptKeys) string {
	t := &render.Table{Columns: []render.Column{{Name: "ZONE"}, {Name: "KEY", Right: true}, {Name: "MADE"},
		{Name: "ACTION"}, {Name: "REASON"}}}
	for _, k := range out.Keys {
		reason := orNone(k.Reason)
		if k.Reason != "" {
			reason.Tone = render.Bad
		}
		t.Add(render.C(k.Zone), number(k.KeyTag), a.Ago(k.CreatedAt), render.C(k.Action), reason)
	}
	if !out.Changed {
		return a.Text(t)
	}
	return a.Text(t) + "The keys are in their folder. A running node takes them by: gslbctl config reload\n"
}
