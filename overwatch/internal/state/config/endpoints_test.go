package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A duplicate server is reported at every position: among the first servers of its domain, among many later servers,
// and without a domain.
func TestValidate_ServersGivenTwice(t *testing.T) {
	var text strings.Builder
	text.WriteString(smallest + "domains: [{name: a.test}, {name: b.test}]\nregions:\n")
	line := strings.Count(text.String(), "\n")
	add := func(format string, args ...any) int {
		fmt.Fprintf(&text, format+"\n", args...)
		line++
		return line
	}
	server := func(service string, n int) int {
		return add("  - {service: %q, address: 192.0.2.%d, port: 80}", service, n)
	}
	var want []string
	again := func(at string, n int, first string, firstLine int, line int) {
		want = append(want,
			fmt.Sprintf(`main.yaml:%d: %s: "192.0.2.%d:80": is already %s (main.yaml:%d) for the same service: keep one`, line,
				at, n, first, firstLine))
	}
	add("- name: x\n  servers:")
	line++
	lines := map[string]int{}
	place := 0
	for n := range 40 {
		for _, service := range []string{"a.test", "b.test", "unserved.test", ""} {
			lines[fmt.Sprint(service, n)] = server(service, n+1)
			place++
		}
	}
	add("- name: y\n  servers:")
	line++
	for i, n := range []int{0, 15, 16, 17, 39} {
		for k, service := range []string{"A.test.", "unserved.test", "", "b.test"} {
			first := []int{0, 2, 3, 1}[k] + 4*n
			key := fmt.Sprint([]string{"a.test", "unserved.test", "", "b.test"}[k], n)
			again(fmt.Sprintf("regions[1].servers[%d]", 4*i+k), n+1, fmt.Sprintf("regions[0].servers[%d]", first), lines[key],
				server(service, n+1))
		}
	}
	server("a.test", 100) // of none before
	_, got := loadText(t, text.String())
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// If two domains have the same name, the domain of a server does not depend on the position of the server.
func TestValidate_ServersOfADomainThatIsThereTwice(t *testing.T) {
	_, got := loadText(t, smallest+`domains: [{name: a.test}, {name: -b.test}, {name: a.test}]
regions:
- name: x
  servers:
  - {service: a.test, address: 192.0.2.1, port: 1}
  - {service: -b.test, address: 192.0.2.1, port: 1}
  - {service: a.test, address: 192.0.2.1, port: 1}
`)
	want := []string{
		`main.yaml:3: domains[1].name: "-b.test": the label "-b" begins or ends with a hyphen`,
		`main.yaml:3: domains[2].name: "a.test": is already domains[0] (main.yaml:3): keep one`,
		`main.yaml:8: regions[0].servers[1].service: "-b.test": the label "-b" begins or ends with a hyphen`,
		`main.yaml:9: regions[0].servers[2]: "192.0.2.1:1": is already regions[0].servers[0] (main.yaml:7) for the same ` +
			`service: keep one`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
