// Changes: the audit log with filters, and the way back.
import { html, useEffect, useRef, useState } from '../dom.js';
import { mayAdmin, mayOperate, request, useLive } from '../api.js';
import { clock } from '../format.js';
import { Change, Dialog } from '../dialog.js';
import { go, Status, Waiting } from '../parts.js';
import { Table } from '../table.js';
import { Replication } from './replication.js';

const page = 100;
const actionWords = [
  'create', 'update', 'delete', 'apply', 'revoke', 'drain', 'undrain', 'weight', 'clear_weight', 'override',
  'clear_override', 'begin', 'expire', 'hold', 'release', 'reload', 'roll', 'cancel', 'confirm', 'unsign', 'sign',
  'force', 'sync', 'validate', 'refused',
];
const resourceWords = [
  'domain', 'server', 'region', 'backend', 'agent', 'override', 'geo_mapping', 'dnssec', 'config', 'preferences',
  'gossip', 'request', 'brake', 'overlay', 'document',
];
const undone = [ // resources with changes that can be undone
  'domain', 'server', 'region', 'backend', 'override', 'geo_mapping', 'overlay', 'document',
];

const Choice = ({ name, label, words, value, choose }) => html`
  <label>${label} <select name=${name} value=${value} onChange=${(e) => choose({ [name]: e.target.value })}>
    <option value="">all</option>
    ${words.map((w) => html`<option key=${w}>${w}</option>`)}
  </select></label>`;

// The other actions need the role admin.
const orders = ['drain', 'undrain', 'weight', 'clear_weight', 'override', 'clear_override'];
const mayUndo = (e) => (orders.includes(e.action) ? mayOperate() : mayAdmin()) &&
  e.status === 'success' && e.actor_type === 'user' && undone.includes(e.resource);

const columns = (show, undo) => [
  { title: 'When', csv: (e) => e.timestamp, cell: (e) => clock(e.timestamp), class: 'num' },
  { title: 'Who', csv: (e) => e.actor },
  { title: 'Did', csv: (e) => e.action, cell: (e) => html`<strong>${e.action}</strong>` },
  { title: 'What', csv: (e) => e.resource },
  { title: 'Which', csv: (e) => e.resource_id, class: 'mono' },
  { title: 'Outcome', csv: (e) => e.status, cell: (e) => html`<${Status} word=${e.status} />` },
  {
    title: 'Actions',
    class: 'act',
    cell: (e) => html`
      <span class="choice">
        <button
          type="button"
          class="small"
          aria-label=${`Show entry ${e.id}`}
          onClick=${() => show(e)}
        >Show</button>
        ${mayUndo(e) && html`
          <button
            type="button"
            class="small"
            aria-label=${`Undo entry ${e.id}`}
            onClick=${() => undo(e)}
          >Undo</button>`}
      </span>`,
  },
];

const Json = ({ title, value }) => value !== null && value !== undefined && html`
  <h3>${title}</h3>
  <pre tabindex="0">${JSON.stringify(value, null, 2)}</pre>`;

function Entry({ e, close }) {
  return html`
    <${Dialog} title=${`Entry ${e.id}: ${e.action} ${e.resource}`} close=${close}>
      <dl class="facts">
        <dt>which</dt>
        <dd class="mono">${e.resource_id}</dd>
        <dt>when</dt>
        <dd>${clock(e.timestamp)}</dd>
        <dt>who</dt>
        <dd>${e.actor} from ${e.actor_ip || 'this node'}</dd>
        <dt>outcome</dt>
        <dd><${Status} word=${e.status} /></dd>
        <dt>request</dt>
        <dd class="mono">${e.request_id || '-'}</dd>
        ${Object.entries(e.details).map(([k, v]) => html`<dt>${k}</dt><dd>${v}</dd>`)}
      </dl>
      <${Json} title="Before" value=${e.before} />
      <${Json} title="After" value=${e.after} />
    <//>`;
}

// Undo requests the effect of the undo from the node, and shows it for confirmation.
function Undo({ e, close }) {
  const path = `/v1/audit-logs/${e.id}/undo`;
  const [dry, setDry] = useState(null);
  useEffect(() => {
    request(`${path}?dry_run=true`, { method: 'POST' }).then(
      (d) => setDry({ message: d.message }),
      (error) => setDry({ refused: error.message }),
    );
  }, [path]);
  return html`
    <${Dialog} title=${`Undo entry ${e.id}`} close=${close}>
      ${!dry
        ? html`<p class="dim">Asking the node</p>`
        : dry.refused
          ? html`<p class="notice bad" role="alert">${dry.refused}</p>`
          : html`
            <${Change}
              verb="Undo"
              fields=${html`<p>${dry.message}.</p>`}
              takes=${null}
              send=${() => request(`${path}?if_safe=true`, { method: 'POST' })}
              close=${close}
            />`}
    <//>`;
}

// Changes is the view of the audit log. Its filters are in its address.
export function Changes({ path: [actions = '', resources = '', status = '', search = ''] }) {
  const [offset, setOffset] = useState(0);
  const filter = { actions, resources, status, search, offset };
  const [shown, show] = useState(null);
  const [undoing, undo] = useState(null);
  const choose = (part) => {
    const f = { ...filter, ...part };
    setOffset(0);
    go('changes', f.actions, f.resources, f.status, f.search);
  };
  const query = new URLSearchParams({
    limit: page,
    sort_order: 'desc',
    ...Object.fromEntries(Object.entries(filter).filter(([, v]) => v)),
  });
  const live = useLive(`/v1/audit-logs?${query}`);
  const last = useRef(null); // shown until the answer to other filters comes
  const data = last.current = live.data || last.current;
  const tools = html`
    <div class="line">
      <${Choice} name="actions" label="Did" words=${actionWords} value=${filter.actions} choose=${choose} />
      <${Choice} name="resources" label="What" words=${resourceWords} value=${filter.resources} choose=${choose} />
      <${Choice}
        name="status"
        label="Outcome"
        words=${['success', 'failure']}
        value=${filter.status}
        choose=${choose}
      />
      <label>Find <input
        type="search"
        value=${filter.search}
        onInput=${(e) => choose({ search: e.target.value })}
      /></label>
    </div>`;
  const total = data?.total || 0;
  return html`
    <h1>Changes</h1>
    <${Waiting} live=${live} />
    ${data
      ? html`
        <${Table}
          caption="changes"
          rows=${data.entries}
          columns=${columns(show, undo)}
          keyOf=${(e) => e.id}
          tools=${tools}
          empty="Nothing fits."
        />`
      : tools}
    ${total > page && html`
      <p class="choice">
        <button
          type="button"
          disabled=${!offset}
          onClick=${() => setOffset(Math.max(0, offset - page))}
        >Newer</button>
        <button
          type="button"
          disabled=${offset + page >= total}
          onClick=${() => setOffset(offset + page)}
        >Older</button>
        <span class="dim">${offset + 1} to ${Math.min(total, offset + page)} of ${total}</span>
      </p>`}
    <${Replication} />
    ${shown && html`<${Entry} e=${shown} close=${() => show(null)} />`}
    ${undoing && html`<${Undo} e=${undoing} close=${() => undo(null)} />`}`;
}
