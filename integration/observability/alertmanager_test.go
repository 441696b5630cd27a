package observability_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb.internal/integration/harness/testbed"
)

// startAlertmanager returns the address of an Alertmanager without receivers.
func startAlertmanager(t *testing.T) (url string) {
	t.Helper()
	at := testbed.UnusedAddress(t)
	cmd := exec.Command(testbed.Judge(t, "prometheus-alertmanager"), "--config.file="+testbed.File(t, "alertmanager.yml",
		"route: {receiver: nobody}\nreceivers: [{name: nobody}]\n"), "--storage.path="+t.TempDir(),
		"--web.listen-address="+at, "--cluster.listen-address=")
	var words strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &words, &words, time.Second
	testbed.Start(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL) // its data goes away with the test
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(words.String())
		}
	})
	return "http://" + at
}

// alertsOf returns the active alerts of an Alertmanager, as it describes them.
func alertsOf(ctx context.Context, url string) (about []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/v2/alerts?active=true", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var list []struct{ Labels, Annotations map[string]string }
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		return nil, err
	}
	for _, a := range list {
		about = append(about, a.Labels["alertname"]+" "+a.Labels["about"]+" "+a.Annotations["severity"])
	}
	return about, nil
}

// An Alertmanager that a reload adds shows an alert of a name while one of its backends is unhealthy.
func TestNotifications_AnAlertmanagerShowsThemUntilTheyEnd(t *testing.T) {
	url := startAlertmanager(t)
	s := testbed.NewSite(t, 1, 2)
	s.StartPrograms(t)
	testbed.Notify("alertmanager", url, s.Nodes...)
	testbed.Rewrite(t, s.Nodes[0])
	testbed.HangUp(t, s.Nodes[0])
	shows := func(what, want string) {
		t.Helper()
		testbed.Until(t, time.Minute, "the Alertmanager to show "+what, func(ctx context.Context) error {
			got, err := alertsOf(ctx, url)
			if err == nil && strings.Join(got, ", ") != want {
				err = fmt.Errorf("it shows %q", got)
			}
			return err
		})
	}
	shows("nothing", "")
	testbed.Kill(t, s.Backends[0])
	shows("the name", "GslbEvent name "+testbed.AppName+" warning")
	testbed.Start(t, s.Backends[0])
	shows("nothing again", "")
}
