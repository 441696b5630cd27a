// DNSSEC: the DS records for the parents, the keys with their stages, and the exchange of keys between nodes.
import { html } from '../dom.js';
import { useLive } from '../api.js';
import { clock, none, since } from '../format.js';
import { Copy, Panel, Status, Waiting } from '../parts.js';
import { Table } from '../table.js';
import { RollKey, Schedule, stages } from './roll.js';

const algorithms = {
  8: 'RSASHA256',
  10: 'RSASHA512',
  13: 'ECDSAP256SHA256',
  14: 'ECDSAP384SHA384',
  15: 'ED25519',
  16: 'ED448',
};

const keyColumns = [
  { title: 'Zone', csv: (k) => k.zone },
  { title: 'Key tag', csv: (k) => k.key_tag, class: 'num' },
  { title: 'Stage', csv: (k) => k.stage, cell: (k) => html`<${Status} word=${k.stage} />` },
  { title: 'Algorithm', csv: (k) => k.algorithm_name || algorithms[k.algorithm] || k.algorithm },
  { title: 'Flags', csv: (k) => k.flags, class: 'num' },
  { title: 'Created', csv: (k) => k.created_at, cell: (k) => clock(k.created_at), class: 'num' },
  { title: 'Created by', csv: (k) => k.origin_node || none },
];

const peerColumns = [
  { title: 'Node', csv: (p) => p.node_id || p.peer },
  {
    title: 'Status',
    csv: (p) => (p.ok ? 'healthy' : 'failure'),
    cell: (p) => html`<${Status} word=${p.ok ? 'healthy' : 'failure'} />`,
  },
  { title: 'Address', csv: (p) => p.peer, class: 'mono' },
  { title: 'Last success', csv: (p) => p.last_success || none, cell: (p) => since(p.last_success), class: 'num' },
  { title: 'Keys', csv: (p) => p.imported, class: 'num' },
  { title: 'Error', csv: (p) => p.error || none, class: 'why' },
];

// Zone shows the chain of trust of a zone, from the parent down.
function Zone({ zone, records, keys }) {
  return html`
    <${Panel} title=${zone} id=${`zone-${zone}`} aside=${html`<${RollKey} zone=${zone} />`}>
      <ol class="chain">
        <li>
          <h3>DS records for the parent zone</h3>
          ${records.length
            ? records.map((r) => html`
              <div class="copyable" key=${r.digest}>
                <pre>${r.ds_record}</pre>
                <${Copy} text=${r.ds_record} name=${`Copy the DS record of key ${r.key_tag}`} />
              </div>`)
            : html`<p class="dim">None.</p>`}
        </li>
        <li>
          <h3>
            ${keys.every((k) => k.stage === 'retired') ? 'This node does not sign; it keeps' : 'This node signs with'}
          </h3>
          <ul class="plain">
            ${keys.map((k) => html`
              <li key=${k.key_tag}>
                <${Status} word=${k.stage} />
                ${' '}key ${k.key_tag}, ${k.algorithm_name}, ${k.flags === 257 ? 'entry point' : 'zone key'}
              </li>`)}
          </ul>
        </li>
      </ol>
    <//>`;
}

// isWay reports whether a roll is a signing transition: it signs or unsigns a zone and has no key and no DS record.
const isWay = (r) => r.way === 'unsigned' || r.way === 'signed';

// requiresDS reports whether a roll determines the DS records of the parent: until its end, and while the zone is
// unsigned.
const requiresDS = (r) => r.stage !== 'done' || r.way === 'unsigned';

const acts = {
  replace_ds: (r) => (isWay(r)
    ? 'add a DS record to the parent'
    : `replace all DS records of the parent by the DS record of key ${r.key_tag}`),
  remove_ds: () => 'remove all DS records from the parent',
  remove_key: (r) => `remove key ${r.old_keys.join(', ')} from the nodes`,
  cancel: (r) => `gslbctl dnssec roll ${r.zone.replace(/\.$/, '')} --cancel`,
};

// Advice shows whether a manual step is safe now, or the time from which it is safe, if the time is known. gslbctl
// dnssec check shows the same.
const Advice = ({ r, a }) => html`
  <li>
    <${Status}
      tone=${a.safe ? 'good' : 'bad'}
      word=${a.safe ? 'safe now' : a.until ? `not safe before ${clock(a.until)}` : 'not safe now'}
    />
    ${' '}${acts[a.act]?.(r) || a.act}
    ${a.reason && html`<span class="note">${a.reason}</span>`}
  </li>`;

// Roll shows a key rollover or signing transition of a zone: its present stage, the next stages, and with advised the
// steps of an operator.
function Roll({ r, advised }) {
  const text = isWay(r) ? stages[r.way] : stages.key;
  const parent = r.parent_since
    ? `The parent has only this DS record since ${clock(r.parent_since)}.`
    : r.confirmed_at && `An operator confirmed at ${clock(r.confirmed_at)} that the parent has only this DS record.`;
  return html`
    <li>
      <h3>
        ${isWay(r)
          ? `${r.zone}: transition to ${r.way}`
          : `${r.zone} to key ${r.key_tag}${r.old_keys.length ? `, from ${r.old_keys.join(', ')}` : ''}`}
      </h3>
      <p class="dim">begun ${clock(r.started_at)} by ${r.started_by}${r.emergency && ', in an emergency'}</p>
      <ol class="stages">
        <li aria-current="step">
          <${Status} tone=${r.stage === 'done' ? 'good' : 'warn'} word=${r.stage} />
          ${' '}<span>
            since ${clock(r.since)}: ${text[r.stage]}
            ${r.waits_for && html`
              <span class="note">
                It waits for ${r.waits_for}${r.waits_until && `, until ${clock(r.waits_until)}`}
              </span>`}
          </span>
        </li>
        <${Schedule} r=${r} text=${text} />
      </ol>
      ${advised && html`
        <h3>For the parent, once it is safe</h3>
        ${!isWay(r) && html`
          <div class="copyable">
            <pre>${r.ds_record}</pre>
            <${Copy} text=${r.ds_record} name=${`Copy the DS record of key ${r.key_tag}`} />
          </div>
          ${parent && html`<p>${parent}</p>`}`}
        <ul class="plain">
          ${r.advice.map((a) => html`<${Advice} key=${a.act} r=${r} a=${a} />`)}
        </ul>`}
    </li>`;
}

function Rolls() {
  const rolls = useLive('/v1/dnssec/rollover').data?.rolls || [];
  const ways = rolls.filter((r) => isWay(r) && requiresDS(r)).map((r) => r.zone); // no change of key is advised there
  return rolls.length > 0 && html`
    <${Panel} title="Key rollovers" id="rolls">
      <ul class="plain rolls">
        ${rolls.map((r) => html`
          <${Roll} key=${r.zone + r.way} r=${r} advised=${requiresDS(r) && (isWay(r) || !ways.includes(r.zone))} />`)}
      </ul>
    <//>`;
}

function Exchange({ sync }) {
  return html`
    <${Panel} title="Key exchange" id="exchange">
      ${sync.off_reason
        ? html`<p class="notice warn">${sync.off_reason}</p>`
        : sync.peers.length
          ? html`
            <${Table}
              caption="peers of the key exchange"
              rows=${sync.peers}
              columns=${peerColumns}
              keyOf=${(p) => p.peer}
            />`
          : html`<p class="dim">No other node exchanges keys with this one.</p>`}
    <//>`;
}

export function DNSSEC() {
  const status = useLive('/v1/dnssec/status');
  const ds = useLive('/v1/dnssec/ds').data;
  const keys = useLive('/v1/dnssec/keys').data?.keys || [];
  const zones = [...new Set(keys.map((k) => k.zone))];
  if (!status.data) return html`<h1>DNSSEC</h1><${Waiting} live=${status} />`;
  if (!status.data.enabled) return html`
    <h1>DNSSEC</h1>
    <p class="notice">Answers are not signed: <code>overwatch.dnssec.enabled</code> is false.</p>`;
  return html`
    <h1>DNSSEC</h1>
    ${ds?.warning && html`<p class="notice warn">${ds.warning}</p>`}
    <${Rolls} />
    ${zones.map((zone) => html`
      <${Zone}
        key=${zone}
        zone=${zone}
        records=${(ds?.ds_records || []).filter((r) => r.zone === zone)}
        keys=${keys.filter((k) => k.zone === zone)}
      />`)}
    <${Panel} title="Keys" id="keys">
      <${Table} caption="signing keys" rows=${keys} columns=${keyColumns} keyOf=${(k) => k.zone + k.key_tag} />
    <//>
    <${Exchange} sync=${status.data.sync} />`;
}
