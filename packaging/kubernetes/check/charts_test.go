// Package charts_test has Helm render the charts, and judges what comes out by the types of Kubernetes and by the
// programs that are to read it.
package charts_test

import (
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// decoded are the objects of manifests. A key that Kubernetes does not know fails the test.
type decoded struct {
	configs  map[string]string
	services []core.Service
	pods     []core.PodSpec
}

func decode(t *testing.T, manifests ...string) (d decoded) {
	t.Helper()
	d.configs = map[string]string{}
	strict := func(text string, into any) {
		if err := unmarshal(text, into); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
	for _, text := range manifests {
		var kind struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		switch kind.APIVersion + " " + kind.Kind {
		case "v1 ConfigMap":
			var o core.ConfigMap
			strict(text, &o)
			maps.Copy(d.configs, o.Data)
		case "v1 Service":
			var o core.Service
			strict(text, &o)
			d.services = append(d.services, o)
		case "apps/v1 StatefulSet":
			var o apps.StatefulSet
			strict(text, &o)
			d.pods = append(d.pods, o.Spec.Template.Spec)
		case "apps/v1 DaemonSet":
			var o apps.DaemonSet
			strict(text, &o)
			d.pods = append(d.pods, o.Spec.Template.Spec)
		default:
			t.Errorf("kind %+v", kind)
		}
	}
	return d
}

// unmarshal reads an object as the API server does with strict validation: the case of keys counts.
func unmarshal(text string, into any) error {
	object, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return err
	}
	faults, err := json.UnmarshalStrict(object, into)
	return errors.Join(append(faults, err)...)
}

// render lints and renders a chart.
func render(t *testing.T, name string, values map[string]any) decoded {
	t.Helper()
	path := filepath.Join("..", name)
	for _, m := range lint.All(path, values, "default", true).Messages {
		if m.Severity > support.InfoSev {
			t.Errorf("%s: %s", name, m)
		}
	}
	chart, err := loader.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: "r1", Namespace: "default"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, slices.Collect(maps.Values(files))...)
}

// A chart names the image of this version.
func TestCharts_AskForTheImageOfTheirProgram(t *testing.T) {
	for _, name := range []string{"gslb-overwatch", "gslb-agent"} {
		chart, err := loader.Load(filepath.Join("..", name))
		text, missing := os.ReadFile(filepath.Join("..", "..", "..", "VERSION"))
		if err := errors.Join(err, missing); err != nil {
			t.Fatal(err)
		}
		if want := strings.TrimSpace(string(text)); chart.Metadata.AppVersion != want {
			t.Errorf("%s: %s, want %s", name, chart.Metadata.AppVersion, want)
		}
	}
}

// program asks a program whether it takes a configuration, with what a Secret has in its environment.
func program(t *testing.T, name, config string, environment ...string) {
	t.Helper()
	bin := os.Getenv("GSLB_BIN")
	if bin == "" {
		t.Log("GSLB_BIN is not set: no program is asked")
		return
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil { //nolint:gosec // as Kubernetes has it
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), "--config", path, "--validate")
	cmd.Env = environment
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s\n%s", name, err, out, config)
	}
}

// sound checks what every pod here promises: no token of the cluster, no root but to hand over directories, nothing
// that opens key files to a group, and a Secret that is no file.
func sound(t *testing.T, pod *core.PodSpec) {
	t.Helper()
	if pod.SecurityContext != nil && pod.SecurityContext.FSGroup != nil {
		t.Error("an fsGroup opens key files to a group, and then they are refused")
	}
	for _, v := range pod.Volumes {
		if v.Secret != nil || v.Projected != nil {
			t.Errorf("volume %s: the user of the program cannot read a Secret that nobody else can", v.Name)
		}
	}
	for _, c := range pod.Containers {
		if c.Name == "app" {
			continue
		}
		s := c.SecurityContext
		if s == nil || s.RunAsUser == nil || *s.RunAsUser != 65532 || !*s.RunAsNonRoot || !*s.ReadOnlyRootFilesystem ||
			*s.AllowPrivilegeEscalation || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
			t.Errorf("%s: %+v", c.Name, s)
		}
		if len(c.EnvFrom) != 1 || c.EnvFrom[0].SecretRef.Name == "" {
			t.Errorf("%s: %+v", c.Name, c.EnvFrom)
		}
	}
}

var (
	key      = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	overGate = []string{"GSLB_OVERWATCH_GOSSIP_ENCRYPTION_KEY=" + key,
		`GSLB_OVERWATCH_AGENT_TOKENS={"app.gslb.example.com":"` + key + `"}`}
	agentGate = []string{"GSLB_AGENT_GOSSIP_ENCRYPTION_KEY=" + key, "GSLB_AGENT_IDENTITY_SERVICE_TOKEN=" + key}
)

func TestChart_Overwatch(t *testing.T) {
	others := map[string]any{"tag": "2.0.0", "storageClassName": "fast", "nodeSelector": map[string]any{"a": "b"},
		"tolerations": []any{map[string]any{"key": "k", "operator": "Exists"}},
		"service":     map[string]any{"annotations": map[string]any{"a": "b"}, "loadBalancerIP": "192.0.2.53"}}
	for _, values := range []map[string]any{{}, others, {"service": map[string]any{"type": "ClusterIP"}}} {
		d := render(t, "gslb-overwatch", values)
		if len(d.pods) != 1 || len(d.services) != 1 || len(d.services[0].Spec.Ports) != 4 {
			t.Fatalf("%+v", d)
		}
		pod := &d.pods[0]
		sound(t, pod)
		probed(t, &pod.Containers[0])
		names := map[string]bool{}
		for _, p := range pod.Containers[0].Ports {
			names[p.Name+string(p.Protocol)] = true
		}
		for _, p := range d.services[0].Spec.Ports {
			if !names[p.TargetPort.StrVal+string(p.Protocol)] {
				t.Errorf("the Service leads to %s, and the pod has %v", p.TargetPort.StrVal, names)
			}
		}
		program(t, "gslb-overwatch", d.configs["overwatch.yaml"], overGate...)
	}
}

// probed checks that a node that runs is not killed over the file on disk, and stays in the Service when it loses
// single questions.
func probed(t *testing.T, c *core.Container) {
	t.Helper()
	alive, ready := c.LivenessProbe, c.ReadinessProbe
	if alive.TCPSocket == nil || !slices.ContainsFunc(c.Ports, func(p core.ContainerPort) bool {
		return p.Name == alive.TCPSocket.Port.StrVal && p.Protocol == core.ProtocolTCP
	}) {
		t.Errorf("liveness: %+v", alive)
	}
	if ready.Exec == nil || ready.FailureThreshold < 6 {
		t.Errorf("readiness: %+v", ready)
	}
}

// filled returns the configuration that the init container writes. A machine's own values are filled in; nothing is
// left open.
func filled(t *testing.T, pod *core.PodSpec, config string) string {
	t.Helper()
	init, dir := pod.InitContainers[0], t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	fill, _, _ := strings.Cut(init.Command[2], "chown ") // from there on it needs root
	fill = strings.NewReplacer("/template/agent.yaml", filepath.Join(dir, "agent.yaml"), ">/etc/gslb/agent.yaml", "").Replace(fill)
	cmd := exec.CommandContext(t.Context(), init.Command[0], init.Command[1], fill)
	for _, e := range init.Env {
		value := "192.0.2.7"
		if strings.HasSuffix(e.Name, "_NAME") {
			value = "machine-1"
		}
		cmd.Env = append(cmd.Env, e.Name+"="+value)
	}
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if open := regexp.MustCompile(`\$\{\w+\}`).Find(out); err != nil || open != nil || !strings.Contains(string(out), "192.0.2.7") {
		t.Errorf("%v, %s is open in\n%s", err, open, out)
	}
	return string(out)
}

func TestChart_Agent(t *testing.T) {
	for _, values := range []map[string]any{{}, {"tag": "2.0.0", "nodeSelector": map[string]any{"a": "b"},
		"tolerations": []any{map[string]any{"operator": "Exists"}}}} {
		d := render(t, "gslb-agent", values)
		if len(d.pods) != 1 {
			t.Fatalf("%+v", d)
		}
		sound(t, &d.pods[0])
		program(t, "gslb-agent", filled(t, &d.pods[0], d.configs["agent.yaml"]), agentGate...)
	}
}

func TestSidecar(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "sidecar.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d := decode(t, strings.Split(string(text), "\n---\n")...)
	if len(d.pods) != 1 {
		t.Fatalf("%+v", d)
	}
	sound(t, &d.pods[0])
	program(t, "gslb-agent", filled(t, &d.pods[0], d.configs["agent.yaml"]), agentGate...)
}

// externalValues are the values that external-dns.yaml gives.
type externalValues struct {
	Provider struct {
		Name    string `json:"name"`
		Webhook struct {
			Image struct {
				Repository string `json:"repository"`
				Tag        string `json:"tag"`
			} `json:"image"`
			Args            []string              `json:"args"`
			Env             []core.EnvVar         `json:"env"`
			SecurityContext *core.SecurityContext `json:"securityContext"`
		} `json:"webhook"`
	} `json:"provider"`
	Registry           string   `json:"registry"`
	Policy             string   `json:"policy"`
	Sources            []string `json:"sources"`
	ManagedRecordTypes []string `json:"managedRecordTypes"`
}

var externalDNS = flag.String("external-dns", "", "version of ExternalDNS whose chart the test renders")

// gslbctl takes the arguments of the values. With -external-dns, a version of ExternalDNS, its own chart takes the
// values too.
func TestExternalDNS(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "external-dns.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var v externalValues
	if err := unmarshal(string(text), &v); err != nil {
		t.Fatal(err)
	}
	webhook := v.Provider.Webhook
	if s := webhook.SecurityContext; *s.RunAsUser != 65532 || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation {
		t.Errorf("%+v", s)
	}
	if bin := os.Getenv("GSLB_BIN"); bin != "" {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "gslbctl"), append(webhook.Args, "--listen=nowhere")...)
		cmd.Env = []string{webhook.Env[0].Name + "=secret"} // a container of scratch has no HOME
		if out, err := cmd.CombinedOutput(); err == nil || !strings.HasPrefix(string(out), "gslbctl: --listen: ") {
			t.Errorf("%v: %s", err, out)
		}
	}
	if version := *externalDNS; version != "" {
		officialChart(t, version, text, webhook.Args)
	}
}

// officialChart renders the chart that is in the module of ExternalDNS.
func officialChart(t *testing.T, version string, text []byte, args []string) {
	t.Helper()
	var values map[string]any
	var module struct{ Dir string }
	out, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "sigs.k8s.io/external-dns@"+version).Output()
	if err := errors.Join(err, yaml.Unmarshal(text, &values), yaml.Unmarshal(out, &module)); err != nil {
		t.Fatal(err)
	}
	chart, err := loader.Load(filepath.Join(module.Dir, "charts", "external-dns"))
	if err != nil {
		t.Fatal(err)
	}
	if err := chartutil.ValidateAgainstSchema(chart, values); err != nil {
		t.Error(err)
	}
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: "r1", Namespace: "default"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(chart, all)
	var deployment apps.Deployment
	if err := errors.Join(err, unmarshal(files["external-dns/templates/deployment.yaml"], &deployment)); err != nil {
		t.Fatal(err)
	}
	for _, c := range deployment.Spec.Template.Spec.Containers {
		switch c.Name {
		case "external-dns":
			for _, arg := range []string{"--provider=webhook", "--registry=noop", "--policy=sync"} {
				if !slices.Contains(c.Args, arg) {
					t.Errorf("ExternalDNS is not started with %s: %q", arg, c.Args)
				}
			}
		case "webhook":
			if !slices.Equal(c.Args, args) || c.Ports[0].ContainerPort != 8080 || c.LivenessProbe.HTTPGet.Path != "/healthz" {
				t.Errorf("%+v", c)
			}
			return
		}
	}
	t.Errorf("there is no webhook in %+v", deployment.Spec.Template.Spec.Containers)
}

// A key that Kubernetes does not know is found, whatever its case.
func TestDecode_IsStrict(t *testing.T) {
	for _, key := range []string{"prots", "Ports"} {
		if err := unmarshal("apiVersion: v1\nkind: Service\nspec: {"+key+": []}", &core.Service{}); err == nil {
			t.Errorf("%s is taken", key)
		}
	}
}
