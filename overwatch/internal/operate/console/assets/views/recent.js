// What happened last.
import { html } from '../vendor/preact.js';
import { useLive } from '../api.js';
import { clock } from '../format.js';
import { Panel, Status, Waiting } from '../parts.js';

const shown = 12;

// Recent lists the newest entries of the audit log.
export function Recent() {
  const live = useLive(`/v1/audit-logs?limit=${shown}&sort_order=desc`);
  return html`<${Panel} title="Changes" id="recent" aside=${html`<a href="#/changes">all</a>`}><${Waiting} live=${live} />
    ${live.data && (live.data.entries.length ? html`<ol class="recent">${live.data.entries.map((e) => html`<li key=${e.id}>
      <time datetime=${e.timestamp} class="num">${clock(e.timestamp).slice(11)}</time> <strong>${e.action}</strong> ${e.resource} <span class="mono">${e.resource_id}</span>
      <span class="dim">by ${e.actor}</span>${e.status === 'failure' && html` <${Status} word="failure" />`}</li>`)}</ol>`
      : html`<p class="dim">Nothing was changed yet.</p>`)}<//>`;
}
