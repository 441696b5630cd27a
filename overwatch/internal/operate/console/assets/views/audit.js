// Audit log: the changes with filters, their comparison before and after, and the undo.
import { html, useEffect, useRef, useState } from '../dom.js';
import { mayAdmin, mayOperate, request, useLive } from '../api.js';
import { clock } from '../format.js';
import { Change, Dialog } from '../dialog.js';
import { Diff } from '../diff.js';
import { Choice, go, Status, Waiting, When } from '../parts.js';
import { Table } from '../table.js';
import { Replication } from './replication.js';

const page = 100;
const actionWords = [
  'create', 'update', 'delete', 'apply', 'revoke', 'drain', 'undrain', 'weight', 'clear_weight', 'override',
  'clear_override', 'begin', 'expire', 'hold', 'release', 'failback', 'reload', 'roll', 'cancel', 'confirm', 'unsign',
  'sign', 'force', 'sync', 'validate', 'refused', 'receive',
];
const resourceWords = [
  'domain', 'server', 'region', 'backend', 'agent', 'override', 'geo_mapping', 'dnssec', 'config', 'preferences',
  'gossip', 'request', 'brake', 'overlay', 'document', 'replication',
];
const undone = [ // resources with changes that can be undone
  'domain', 'server', 'region', 'backend', 'override', 'geo_mapping', 'overlay', 'document',
];

// verbs has the verb of each action in the sentence of an entry.
const verbs = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
  apply: 'applied',
  revoke: 'revoked',
  drain: 'drained',
  undrain: 'ended the drain of',
  weight: 'set the weight of',
  clear_weight: 'restored the declared weight of',
  override: 'overrode the health of',
  clear_override: 'cleared the override of',
  begin: 'began the planned change of',
  expire: 'ended the expired change of',
  hold: 'holds agent reports about',
  release: 'released the hold of',
  failback: 'returned the clients to regions of',
  reload: 'reloaded',
  roll: 'began or continued the key rollover of',
  cancel: 'canceled the key rollover of',
  confirm: 'confirmed the DS records of',
  unsign: 'began to unsign',
  sign: 'began to sign',
  force: 'forced the key rollover of',
  sync: 'synchronized',
  validate: 'checked',
  refused: 'was refused a change of',
  receive: 'sent a change of',
};

const inVerb = ['override', 'dnssec', 'brake']; // objects that the verb names

// sentenceOf describes an entry in one sentence.
export const sentenceOf = (e) => [
  e.actor || 'this node',
  verbs[e.action] || e.action,
  inVerb.includes(e.resource) && e.action !== 'refused' ? '' : e.resource.replaceAll('_', ' '),
  e.resource_id,
].filter(Boolean).join(' ');

const pages = { agent: 'agents', dnssec: 'dnssec', region: 'map', config: 'settings', preferences: 'settings' };
const ofName = ['domain', 'server', 'backend', 'override'];

// pageOf returns the address of the page about the object of an entry, or undefined.
function pageOf(e) {
  if (ofName.includes(e.resource) && e.resource_id) {
    return '#/names/' + encodeURIComponent(e.resource_id.split(/[ :/]/)[0]);
  }
  return pages[e.resource] && '#/' + pages[e.resource];
}

// The other actions need the role admin.
const orders = ['drain', 'undrain', 'weight', 'clear_weight', 'override', 'clear_override', 'failback'];
const mayUndo = (e) => (orders.includes(e.action) ? mayOperate() : mayAdmin()) &&
  e.status === 'success' && e.actor_type === 'user' && undone.includes(e.resource);

const columns = (show, undo, now) => [
  {
    title: 'When',
    csv: (e) => e.timestamp,
    cell: (e) => html`<${When} at=${e.timestamp} now=${now} />`,
    class: 'num',
  },
  {
    title: 'Change',
    cell: (e) => (pageOf(e) ? html`<a href=${pageOf(e)}>${sentenceOf(e)}</a>` : sentenceOf(e)),
    class: 'why',
  },
  { title: 'Who', csv: (e) => e.actor, hidden: true },
  { title: 'Did', csv: (e) => e.action, hidden: true },
  { title: 'What', csv: (e) => e.resource, hidden: true },
  { title: 'Which', csv: (e) => e.resource_id, hidden: true },
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

function Entry({ e, close }) {
  return html`
    <${Dialog} title=${`Entry ${e.id}: ${e.action} ${e.resource}`} close=${close}>
      <p>${sentenceOf(e)}</p>
      <dl class="facts">
        <dt>which</dt>
        <dd class="mono">${e.resource_id}</dd>
        <dt>when</dt>
        <dd>${clock(e.timestamp)} (<${When} at=${e.timestamp} />)</dd>
        <dt>who</dt>
        <dd>${e.actor} from ${e.actor_ip || 'this node'}</dd>
        <dt>outcome</dt>
        <dd><${Status} word=${e.status} /></dd>
        <dt>request</dt>
        <dd class="mono">${e.request_id || '-'}</dd>
        ${Object.entries(e.details).map(([k, v]) => html`<dt>${k}</dt><dd>${v}</dd>`)}
      </dl>
      ${(e.before || e.after) && html`
        <h3>Before and after</h3>
        <${Diff} before=${e.before} after=${e.after} />`}
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
        ? html`<p class="dim">Loading</p>`
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

// One shows the entry of an address.
function One({ id, close }) {
  const live = useLive(`/v1/audit-logs/${encodeURIComponent(id)}`, { pause: 60000 });
  return live.data
    ? html`<${Entry} e=${live.data.entry} close=${close} />`
    : html`<${Waiting} live=${live} />`;
}

// Audit is the view of the audit log. Its filters, and the id of a shown entry, are in its address.
export function Audit({ path: [actions = '', resources = '', status = '', search = '', entry = '', actors = ''] }) {
  const [offset, setOffset] = useState(0);
  const filter = { actions, resources, status, search, actors, offset };
  const [shown, show] = useState(null);
  const [undoing, undo] = useState(null);
  const known = useLive('/v1/audit-logs/stats', { pause: 30000 }).data?.stats.top_actors || [];
  const choose = (part) => {
    const f = { ...filter, ...part };
    setOffset(0);
    go('audit', f.actions, f.resources, f.status, f.search, '', f.actors);
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
      <${Choice} name="actions" label="Action" words=${actionWords} value=${filter.actions} choose=${choose} />
      <${Choice} name="resources" label="Object" words=${resourceWords} value=${filter.resources} choose=${choose} />
      <${Choice}
        name="actors"
        label="Actor"
        words=${known.map((a) => a.actor)}
        value=${filter.actors}
        choose=${choose}
      />
      <${Choice}
        name="status"
        label="Outcome"
        words=${['success', 'failure']}
        value=${filter.status}
        choose=${choose}
      />
      <label>Text <input
        type="search"
        value=${filter.search}
        onInput=${(e) => choose({ search: e.target.value })}
      /></label>
    </div>`;
  const total = data?.total || 0;
  return html`
    <h1>Audit log</h1>
    <${Waiting} live=${live} />
    ${data
      ? html`
        <${Table}
          caption="audit log"
          rows=${data.entries}
          columns=${columns(show, undo, data.generated_at)}
          keyOf=${(e) => e.id}
          tools=${tools}
          empty="No entry matches the filters."
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
    ${entry && html`<${One} id=${entry} close=${() => choose({})} />`}
    ${shown && html`<${Entry} e=${shown} close=${() => show(null)} />`}
    ${undoing && html`<${Undo} e=${undoing} close=${() => undo(null)} />`}`;
}
