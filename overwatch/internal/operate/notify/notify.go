// Package notify sends events to the targets of the configuration: it takes them from the journal, groups them, and
// hands messages to the senders of package send. Of an event that several nodes see, one of them sends the message; if
// that one does not, another does. Events are lost only where too many wait for a target, or where it refuses a message
// for good. Messages that wait survive a restart. The root runs one Notifier; httpapi shows and tests targets, and
// answers peers by it. The package makes no events. A *Notifier may be used from any goroutine.
package notify

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/operate/notify/send"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/journal"
)

// Settings holds the part of the configuration that a Notifier uses. It must not be changed afterwards.
type Settings struct {
	Cluster string
	Targets []config.NotificationTarget
	Secret  []byte // by which nodes prove themselves to one another; nil: not set
	TLS     peerauth.TLSFiles
}

// SettingsOf returns the settings of a configuration.
func SettingsOf(c *config.Config) Settings {
	return Settings{Cluster: c.Overwatch.Gossip.ClusterName, Targets: c.Overwatch.Notifications.Targets,
		Secret: peerauth.SecretFor(c, "notifications"), TLS: peerauth.TLSFilesOf(c)}
}

// Options configures a Notifier.
type Options struct {
	Node     string           // its id
	Path     string           // of the file that keeps what waits over a restart
	Journal  *journal.Journal // the source of events
	Settings Settings
	// Peers lists the nodes that this one exchanges decisions with, as far as they answer.
	Peers func() []Peer
	// Ask asks a peer for the tellings of a group to a target that it knows of; nil: over the network.
	Ask func(ctx context.Context, peer Peer, target, group string) (map[string]Telling, error)
	// NewSender makes the sender of a target; nil is send.New.
	NewSender func(config.NotificationTarget) (send.Sender, error)
	Logger    zerolog.Logger
}

// Notifier sends notifications.
type Notifier struct {
	o      Options
	server *peerauth.Server
	wake   chan struct{} // holds one element when the settings are others
	writer writer

	mu       sync.Mutex
	settings Settings
	targets  []*target       // of the settings that Run goes by
	kept     map[string]kept // what the file had of targets, by name
}

// New reads the file of waiting messages. A file that cannot be read is logged, and its messages are lost. Nothing is
// sent before Run.
func New(o Options) (*Notifier, error) {
	if o.Journal == nil || o.Peers == nil || o.Path == "" {
		return nil, errors.New("notify: Options.Journal, Peers and Path are needed")
	}
	if o.NewSender == nil {
		o.NewSender = send.New
	}
	n := &Notifier{o: o, server: peerauth.NewServer(), wake: make(chan struct{}, 1), writer: newWriter(),
		settings: o.Settings}
	if o.Ask == nil {
		n.o.Ask = n.ask
	}
	var err error
	if n.kept, err = read(o.Path); err != nil {
		o.Logger.Error().Err(err).Str("file", o.Path).Msg("what waited to be notified cannot be read: it is lost")
	}
	n.targets = n.next(nil, o.Settings.Targets)
	return n, nil
}

// Reconfigure puts other settings into force. Messages that wait for a target stay with the target of its name.
func (n *Notifier) Reconfigure(settings Settings) {
	n.mu.Lock()
	n.settings = settings
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func (n *Notifier) current() (Settings, []*target) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.settings, n.targets
}

// next returns the targets of a configuration. Unchanged targets stay. The others are ended; their waiting messages go
// to the target of the same name.
func (n *Notifier) next(before []*target, wanted []config.NotificationTarget) []*target {
	stay := map[string]*target{}
	for _, t := range before {
		same := false
		for i := range wanted {
			same = same || reflect.DeepEqual(t.c, wanted[i])
		}
		if same {
			stay[t.c.Name] = t
			continue
		}
		t.end()
		n.kept[t.c.Name] = t.kept
	}
	list := make([]*target, 0, len(wanted))
	for _, c := range wanted {
		t := stay[c.Name]
		if t == nil {
			t = n.newTarget(c)
		}
		list = append(list, t)
	}
	clear(n.kept) // what is of no target any more is forgotten
	return list
}

// Run sends notifications until ctx ends. It returns nil. It must be called once.
func (n *Notifier) Run(ctx context.Context) error {
	var writing sync.WaitGroup
	written, end := context.WithCancel(context.WithoutCancel(ctx))
	writing.Go(func() { n.write(written) })
	defer writing.Wait()
	defer end()
	_, targets := n.current()
	for {
		for _, t := range targets {
			t.start(ctx)
		}
		n.writer.mark()
		select {
		case <-ctx.Done():
			for _, t := range targets {
				t.end()
			}
			return nil
		case <-n.wake:
		}
		settings, _ := n.current()
		targets = n.next(targets, settings.Targets)
		n.mu.Lock()
		n.targets = targets
		n.mu.Unlock()
	}
}

const (
	// firstRetry is the pause after a target has failed. It doubles up to lastRetry.
	firstRetry = 5 * time.Second
	lastRetry  = 5 * time.Minute
	// longestPause bounds the pause that a target may ask for.
	longestPause = time.Hour
)

// backoff returns the pause after so many failures in a row, longer if the target has asked for that.
func backoff(failures int, asked time.Duration) time.Duration {
	pause := min(lastRetry, firstRetry<<min(failures-1, 10))
	pause = time.Duration(float64(pause) * (0.8 + 0.4*rand.Float64()))
	return max(pause, min(asked, longestPause))
}
