// Package notify sends events to the notification targets of the configuration. It reads the events from the journal,
// groups them, and passes messages to the senders of package send. If several nodes detect an event, one of them sends
// the message; if that node fails, another node sends it. Events are lost only if the queue of a target is full, or if
// a target permanently rejects a message. Waiting messages survive a restart.
//
// The root runs one Notifier. httpapi lists and tests targets, and answers peers with it. The package creates no
// events. A *Notifier is safe for concurrent use.
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

// Settings is the part of the configuration that a Notifier uses. It is immutable.
type Settings struct {
	Cluster string
	Targets []config.NotificationTarget
	Secret  []byte // secret for authentication between nodes; nil: not set
	TLS     peerauth.TLSFiles
}

// SettingsOf returns the settings of a configuration.
func SettingsOf(c *config.Config) Settings {
	return Settings{Cluster: c.Overwatch.Gossip.ClusterName, Targets: c.Overwatch.Notifications.Targets,
		Secret: peerauth.SecretFor(c, "notifications"), TLS: peerauth.TLSFilesOf(c)}
}

// Options configures a Notifier.
type Options struct {
	Node     string           // ID of this node
	Path     string           // file that stores waiting notifications across restarts
	Journal  *journal.Journal // the source of events
	Settings Settings
	// Peers lists the reachable nodes that exchange admin states with this node.
	Peers func() []Peer
	// Ask requests a peer's tellings about a group and a target; nil: over the network.
	Ask func(ctx context.Context, peer Peer, target, group string) (map[string]Telling, error)
	// NewSender creates the sender of a target; nil: send.New.
	NewSender func(config.NotificationTarget) (send.Sender, error)
	Logger    zerolog.Logger
}

// Notifier sends notifications.
type Notifier struct {
	o      Options
	server *peerauth.Server
	wake   chan struct{} // has an element if the settings have changed
	writer writer

	mu       sync.Mutex
	settings Settings
	targets  []*target       // targets of the current settings of Run
	kept     map[string]kept // stored states without a target, by name
}

// New reads the file of waiting messages. If the file is unreadable, New logs the error and drops the messages. Sending
// starts with Run.
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

// Reconfigure replaces the settings. Waiting messages of a target move to the new target of the same name.
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

// next returns the targets of a configuration. It keeps unchanged targets. It ends the other targets, and moves their
// waiting messages to the target of the same name.
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
		t.stopSending()
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
	clear(n.kept) // drops the states of removed targets
	return list
}

// Run sends notifications until ctx ends and returns nil. It must be called once.
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
				t.stopSending()
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
	// longestPause bounds the pause that a target can request.
	longestPause = time.Hour
)

// backoff returns the pause after a number of consecutive failures. asked is the pause that the target has requested,
// or 0.
func backoff(failures int, asked time.Duration) time.Duration {
	pause := min(lastRetry, firstRetry<<min(failures-1, 10))
	pause = time.Duration(float64(pause) * (0.8 + 0.4*rand.Float64()))
	return max(pause, min(asked, longestPause))
}
