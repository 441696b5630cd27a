// Failback: the regions of a name that were down, and whose clients stay in other regions.
import { html, useState } from '../dom.js';
import { mayOperate, refresh, request } from '../api.js';
import { clock, since } from '../format.js';
import { Panel, Status } from '../parts.js';

// stateOf describes a region that awaits failback.
function stateOf(p) {
  if (!p.can_serve_since) return { word: `cannot serve: ${p.serving} of ${p.required} backends`, tone: 'bad' };
  const can = `can serve since ${clock(p.can_serve_since)}`;
  return { word: p.returns_at ? `${can}; its clients return at ${clock(p.returns_at)}` : can, tone: 'warn' };
}

export function Failback({ domain }) {
  const [state, setState] = useState({});
  const pending = domain.pending_failbacks || [];
  const failBack = async (region) => {
    setState({ busy: true });
    try {
      const path = `/v1/domains/${encodeURIComponent(domain.name)}/failback`;
      setState({ done: (await request(path, { method: 'POST', body: { regions: [region] } })).message });
      refresh();
    } catch (error) {
      setState({ error: error.message });
    }
  };
  if (!pending.length && !state.done && !state.error) return null;
  return html`
    <${Panel} title="Failback" id="failback">
      <ul class="plain">
        ${pending.map((p) => html`
          <li key=${p.region}>
            <strong>${p.region}</strong> was down ${since(p.since)} and awaits failback
            <${Status} ...${stateOf(p)} />
            ${mayOperate() && p.can_serve_since && html`
              <button
                type="button"
                class="small"
                disabled=${state.busy}
                onClick=${() => failBack(p.region)}
              >Return its clients</button>`}
          </li>`)}
      </ul>
      <div aria-live="polite">
        ${state.done && html`<p class="notice good">${state.done}</p>`}
        ${state.error && html`<p class="notice bad">${state.error}</p>`}
      </div>
    <//>`;
}
