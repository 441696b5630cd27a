// Name: the answers of a domain, its backends with agent report and own check, and the reason of a client's answer.
import { html, useState } from '../dom.js';
import { mayOperate, request, useList, useLive } from '../api.js';
import { Orders } from '../actions.js';
import { count, decisionWord, endpoint, none, number, percent, since } from '../format.js';
import { Edit } from '../form.js';
import { Panel, Share, Status, Waiting } from '../parts.js';
import { Table } from '../table.js';
import { AnswerStatus, clientsOf, servingOf, servingTone } from './names.js';
import { Ask } from './ask.js';
import { Decision } from './decision.js';
import { Drains } from './drains.js';
import { Failback } from './failback.js';
import { History } from './history.js';
import { Release } from './holds.js';
import { Recent } from './recent.js';

const listed = 12; // addresses shown per answer

const nameOf = (a) => (a.everybody || !a.client_region ? clientsOf(a) : `clients in ${a.client_region}`);

function Answers({ name, domain }) {
  const [kind, setKind] = useState('A');
  const live = useLive(`/v1/routing/answers?domain=${encodeURIComponent(name)}&query_type=${kind}`);
  const backends = useList(`/v1/overwatch/backends?service=${encodeURIComponent(name)}`, 'backends');
  const choose = html`
    <div class="choice" role="group" aria-label="Record type">
      ${['A', 'AAAA'].map((k) => html`
        <button
          type="button"
          class="small"
          aria-pressed=${k === kind}
          onClick=${() => setKind(k)}
        >${k}</button>`)}
    </div>`;
  return html`
    <${Panel} title="Answers now" id="answers" aside=${choose}>
      <${Waiting} live=${live} />
      <${Decision}
        answers=${live.data?.answers || []}
        backends=${backends.data?.backends || []}
        domain=${domain}
        nameOf=${nameOf}
      />
      <div class="gets">
        ${live.data?.answers.map((a) => html`
          <div key=${clientsOf(a)} class="card">
            <h3>
              ${nameOf(a)}
              <${Status} word=${decisionWord(a.decision)} />
            </h3>
            <ul class="plain">
              ${a.addresses.slice(0, listed).map((s) => html`
                <li key=${s.address}>
                  <span class="mono">${s.address}</span>
                  <${Share} part=${s.share} text=${percent(s.share)} />
                </li>`)}
            </ul>
            ${a.addresses.length > listed && html`<p>and ${number(a.addresses.length - listed)} more</p>`}
            ${!a.addresses.length && html`<p class="dim">no address</p>`}
            <p class="dim">${a.algorithm}, TTL ${a.ttl} s</p>
          </div>`)}
      </div>
    <//>`;
}

// Result shows the state of a backend from one source: the agent report or the own check.
function Result({ says, when, now, note }) {
  if (says === null) return html`<span class="dim">${none}</span>`;
  return html`
    <span class="witness">
      <${Status} word=${says ? 'healthy' : 'unhealthy'} /> <span class="dim num">${since(when, now)}</span>
      ${note && html`<span class="note">${note}</span>`}
    </span>`;
}

// Marks shows the marks of a backend next to its status: draining, override and hold.
export function Marks({ b }) {
  return html`
    ${b.draining && html` <${Status} word="draining" />`}
    ${b.override && html` <${Status} word="override" />`}
    ${b.held && html` <${Status} word="held" />`}`;
}

const columns = (now, order) => [
  {
    title: 'Backend',
    csv: (b) => endpoint(b.address, b.port),
    cell: (b) => html`
      <span class="mono">${endpoint(b.address, b.port)}</span>
      <span class="note">${b.region || 'no region'}</span>`,
  },
  { title: 'Region', csv: (b) => b.region || none, hidden: true },
  {
    title: 'Status',
    csv: (b) => b.effective_status,
    cell: (b) => html`
      <${Status} word=${b.effective_status} />
      <${Marks} b=${b} />
      <span class="note">${b.may_serve ? 'serves' : 'does not serve'}</span>`,
  },
  { title: 'Serves', csv: (b) => (b.may_serve ? 'yes' : 'no'), hidden: true },
  {
    title: 'Weight',
    csv: (b) => b.weight_override?.weight ?? b.weight,
    class: 'num',
    cell: (b) => html`
      ${b.weight_override?.weight ?? b.weight}
      ${b.share < 1 && html`<span class="dim"> × ${percent(b.share, 0)}</span>`}`,
  },
  {
    title: 'Agent report',
    csv: (b) => (b.agent_healthy === null ? none : b.agent_healthy ? 'healthy' : 'unhealthy'),
    cell: (b) => html`
      <${Result} says=${b.agent_healthy} when=${b.agent_last_seen} now=${now} note=${b.agent_id} />`,
  },
  {
    title: 'Own check',
    csv: (b) => (b.validation_healthy === null ? none : b.validation_healthy ? 'healthy' : 'unhealthy'),
    cell: (b) => html`
      <${Result}
        says=${b.validation_healthy}
        when=${b.validation_last_check}
        now=${now}
        note=${b.validation_error}
      />`,
  },
  { title: 'Why', csv: (b) => b.reason, class: 'why' },
  ...(mayOperate() ? [{
    title: 'Action',
    class: 'act',
    cell: (b) => html`
      <button
        type="button"
        class="small"
        aria-label=${`Change ${b.id}`}
        onClick=${() => order(b.id)}
      >Change</button>`,
  }] : []),
];

function Backends({ name, domain }) {
  const [ordered, order] = useState('');
  const live = useList(`/v1/overwatch/backends?service=${encodeURIComponent(name)}`, 'backends');
  const chosen = live.data?.backends.find((b) => b.id === ordered);
  const held = live.data?.backends.filter((b) => b.held).length;
  const add = html`
    ${held > 0 && html`
      <span>
        <${Status} word="held" /> mass-failure protection ignores reports about ${count(held, 'backend', 'backends')}
        ${' '}<${Release} subject=${name} />
      </span>`}
    <${Edit}
      verb="Add"
      title="a backend"
      schema="ServerChange"
      object=${{}}
      omit=${['service']}
      save=${(patch) => request('/v1/servers', { method: 'POST', body: { ...patch, service: name } })}
    />`;
  return html`
    ${live.data && html`<${Drains} backends=${live.data.backends} stamp=${live.data.generated_at} />`}
    ${chosen && html`<${Orders} b=${chosen} close=${() => order('')} />`}
    <${Panel} title="Backends" id="backends" aside=${add}>
      <${Waiting} live=${live} />
      ${live.data && html`
        <${Table}
          caption=${`backends of ${name}`}
          rows=${live.data.backends}
          columns=${columns(live.data.generated_at, order)}
          keyOf=${(b) => b.id}
          empty="No backend."
        />`}
    <//>`;
}

// Settings edits the settings of a domain.
function Settings({ d }) {
  const algorithms = useLive('/v1/routing/algorithms', { pause: 3600e3 }).data?.algorithms.map((a) => a.id);
  const path = `/v1/domains/${encodeURIComponent(d.name)}`;
  return html`
    <${Edit}
      title=${d.name}
      schema="DomainChange"
      object=${d}
      omit=${['name', 'routing_policy', 'owner']}
      words=${algorithms ? { routing_algorithm: algorithms, fallback_algorithm: algorithms } : {}}
      plan=${(patch) => request(`${path}/plan`, { method: 'POST', body: patch })}
      save=${(patch) => request(path, { method: 'PATCH', body: patch })}
    />`;
}

export function Name({ path: [name] }) {
  const live = useLive(`/v1/domains/${encodeURIComponent(name)}`);
  const d = live.data?.domain;
  return html`
    <p class="crumbs"><a href="#/names">Names</a></p>
    <h1 class="mono">${name}</h1>
    <${Waiting} live=${live} />
    ${d && html`
      <div class="summary">
        <${Status} tone=${servingTone(d)} word=${d.enabled ? `${servingOf(d)} serve` : 'off'} />
        <${AnswerStatus} d=${d} />
        <span>requires ${d.required_backends}${d.min_healthy && ` (${d.min_healthy})`}</span>
        <span>${d.routing_policy}${d.fallback_algorithm ? `, else ${d.fallback_algorithm}` : ''}</span>
        <span>TTL ${d.ttl} s</span>
        <span>${d.dnssec_enabled ? 'signed' : 'not signed'}</span>
        ${d.https && html`
          <span>
            HTTPS ${d.https.alpn.join(', ')}${d.https.port && `, port ${d.https.port}`}${d.https.ech && ', ECH'}
          </span>`}
        ${d.srv && html`<span>SRV ${d.srv.join(', ')}</span>`}
        ${d.tags.map((t) => html`<span class="tag">${t}</span>`)}
        <${Settings} d=${d} />
      </div>
      ${d.description && html`<p>${d.description}</p>`}
      <${Failback} domain=${d} />
      ${d.enabled && html`<${Answers} name=${name} domain=${d} />`}
      <${Backends} name=${name} domain=${d} />
      <${History} name=${name} domain=${d} />
      <${Ask} name=${name} domain=${d} />
      <${Recent} name=${name} shown="50" />`}`;
}
