package console_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

func tasksOfOutages() []task {
	return []task{
		{"find the cause of an outage", func(t *testing.T, w *walk) {
			t.Helper()
			if _, err := w.node.Client.ChangeDomain(t.Context(), webName, api.DomainChange{"failback": "manual"}); err != nil {
				t.Fatal(err)
			}
			for _, b := range w.s.backends[2:4] {
				testbed.Kill(t, b)
			}
		}, func(w *walk) {
			w.reads(".band", "region us is lost", w.s.backends[2].At.String()+": connection refused")
		}},
		{"end a pending failback", func(t *testing.T, w *walk) {
			t.Helper()
			for _, b := range w.s.backends[2:4] {
				testbed.Start(t, b)
			}
			w.s.allHealthy(t, w.node)
		}, func(w *walk) {
			w.openName(webName)
			w.press("section[aria-labelledby=failback] button")
			w.reads("section", "the clients of us return in the answers for "+webName)
		}},
		{"find why a client is sent to a region", nil, func(w *walk) {
			w.openName(shopName)
			w.form(map[string]string{"input[name=client]": "127.0.0.1", "input[name=subnet]": "203.0.113.0/24"},
				"[aria-labelledby=ask] button.main")
			w.reads(".explained", "is in asia, by a mapping", "another region has priority")
		}},
	}
}

func tasksOfBackends() []task {
	return []task{
		{"drain a region", nil, func(w *walk) {
			w.press(".sites a[href='#/map/asia']")
			w.press("button[aria-label='Drain Far East']")
			w.reads("dialog", "The shares of 2 backends fall to 0", "Each domain has the required number of backends")
			w.axe("dialog for the drain of a region")
			w.form(map[string]string{"dialog [name=duration]": "1s", "dialog [name=reason]": "new switches"}, submit)
			w.wait("all backends of the region to drain", "document.querySelector(\"button[aria-label='Undrain Far East']\")")
		}},
		{"undo a change", nil, func(w *walk) {
			w.press("nav a[href='#/audit']")
			w.press("button[aria-label^='Undo entry']")
			w.form(nil, submit)
			w.reads("table", "ended the drain of server")
		}},
		{"end the drains of a region", func(t *testing.T, w *walk) {
			t.Helper()
			for _, name := range []string{shopName, apiName} {
				id := fmt.Sprintf("%s:%s", name, w.s.backends[4].At)
				if _, err := w.node.Client.DrainServer(t.Context(), id, api.DrainRequest{Duration: "1s"}); err != nil {
					t.Fatal(err)
				}
			}
		}, func(w *walk) {
			w.press(".sites a[href='#/map/asia']")
			w.press("button[aria-label='Undrain Far East']")
			w.reads("dialog", "The full shares of 2 backends return")
			w.form(nil, submit)
			w.wait("no drain", "document.querySelector(\"button[aria-label='Drain Far East']\")")
		}},
		{"override a backend", nil, func(w *walk) {
			w.openName(webName)
			w.press(fmt.Sprintf("button[aria-label='Change %s:%s']", webName, w.s.backends[0].At))
			w.click("dialog .choice button:nth-child(2)") // a part of the form
			w.form(map[string]string{"dialog [name=reason]": "bad deploy"}, submit)
			w.reads("td", "override")
		}},
		{"copy the backends of a name", nil, func(w *walk) {
			w.openName(shopName)
			w.do(chromedp.Evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }", nil))
			w.press("[aria-labelledby=backends] button[aria-label^='Copy CSV']")
			w.wait("the copy", fmt.Sprintf("window.copied?.includes(%q)", w.s.backends[0].At))
		}},
	}
}

const newName = "new.test.gslb.test"

func tasksOfNames() []task {
	return []task{
		{"add a service", nil, func(w *walk) {
			w.press("nav a[href='#/names']")
			w.press("button[aria-label='Add a name']")
			w.edit(map[string]string{"dialog [name=name]": newName, "dialog [name=regions]": "eu"}, newName)
			w.reads("h1", newName)
		}},
		{"add a backend", nil, func(w *walk) {
			w.openName(newName)
			w.press("button[aria-label='Add a backend']")
			w.reads("dialog", "allowed_cidrs")
			w.axe("dialog for a backend")
			w.edit(map[string]string{"dialog [name=address]": "192.0.2.1", "dialog [name=port]": "80",
				"dialog [name=region]": "eu"}, "192.0.2.1")
			w.reads("[aria-labelledby=backends] td", "192.0.2.1:80")
		}},
		{"change a TTL with its consequences", nil, func(w *walk) {
			w.openName(apiName)
			w.press(fmt.Sprintf("button[aria-label='Edit %s']", apiName))
			w.edit(map[string]string{"dialog [name=ttl]": "17"}, "17")
			w.reads(".summary", "TTL 17 s")
		}},
	}
}

func tasksOfNodes() []task {
	return []task{
		{"roll a key", func(t *testing.T, w *walk) {
			t.Helper()
			testbed.Until(t, hang, "the nodes to agree on the keys", func(ctx context.Context) error {
				_, err := w.node.Client.PreviewRoll(ctx, api.RollCreate{Zone: "test.gslb.test."})
				return err
			})
		}, func(w *walk) {
			w.press("nav a[href='#/dnssec']")
			w.press("button[aria-label='Roll the key of test.gslb.test.']")
			w.reads("dialog", "the parent must have its DS record")
			w.axe("dialog for a key rollover")
			w.form(nil, submit)
			w.reads(".rolls", "test.gslb.test. to key")
		}},
		{"find who changed a setting", func(t *testing.T, w *walk) {
			t.Helper()
			change := api.DNSConfigChange{NegativeTTL: new(44)}
			if _, err := w.node.Client.ChangeDNSConfig(t.Context(), change); err != nil {
				t.Fatal(err)
			}
		}, func(w *walk) {
			w.press("nav a[href='#/audit']")
			w.form(map[string]string{"select[name=resources]": "config"})
			w.wait("only settings", `(() => {
				const rows = [...document.querySelectorAll("[aria-label='Table: audit log'] tbody tr")];
				return rows.length > 0 && rows.every((r) => r.innerText.includes(' config'));
			})()`)
			w.press("button[aria-label^='Show entry']")
			w.reads("dialog", "127.0.0.1", "negative_ttl", "44")
		}},
		{"find which nodes lack a change", func(t *testing.T, w *walk) {
			t.Helper()
			testbed.Kill(t, w.s.nodes[1])
			if _, err := w.node.Client.ChangeDomain(t.Context(), apiName, api.DomainChange{"ttl": 18}); err != nil {
				t.Fatal(err)
			}
		}, func(w *walk) {
			w.press("nav a[href='#/audit']")
			w.wait("the node and the number of its missing objects", fmt.Sprintf(`Object.values(%s).some((cells) =>
				cells[0].startsWith('ow-us') && cells[1].includes('no answer') && Number(cells[3]) > 0)`,
				rowsOf("peers of the replication")))
		}},
	}
}
