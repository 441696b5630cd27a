// The status of names, regions and nodes, for the overview.
import { html } from '../dom.js';
import { useList, useLive } from '../api.js';
import { count, millis, none, number, percent } from '../format.js';
import { Panel, Status, Waiting, When } from '../parts.js';
import { Spark } from '../spark.js';
import { Table } from '../table.js';
import { AnswerStatus, servingOf, servingTone } from './names.js';

const listed = 12; // names on the overview

// rankOf orders names by severity: without an answer, with a fallback answer, with fewer backends than declared,
// normal, disabled.
function rankOf(d) {
  const rank = { none: 0, fallback: 1, disabled: 4 }[d.answer_status];
  return rank ?? (d.serving_backends < d.backend_count ? 2 : 3);
}

// nameColumns shows names with their metrics by name. A cell without metrics is empty until they arrive.
const nameColumns = (metrics) => {
  const of = (d, value) => (metrics?.[d.name] ? value(metrics[d.name]) : none);
  return [
    {
      title: 'Name',
      csv: (d) => d.name,
      cell: (d) => html`<a class="name" href=${'#/names/' + encodeURIComponent(d.name)}>${d.name}</a>`,
    },
    {
      title: 'Serving',
      csv: (d) => `${d.serving_backends}/${d.backend_count}`,
      class: 'num',
      cell: (d) => html`<${Status} tone=${servingTone(d)} word=${servingOf(d)} /> <${AnswerStatus} d=${d} />`,
    },
    { title: 'Required', csv: (d) => d.required_backends, class: 'num' },
    {
      title: 'Last hour',
      cell: (d) => of(d, (m) => html`
        <${Spark} values=${m.history} label=${`at most ${number(Math.max(...m.history))} QPS per minute`} />`),
    },
    {
      title: 'QPS',
      csv: (d) => of(d, (m) => m.queries_per_sec),
      cell: (d) => of(d, (m) => number(m.queries_per_sec)),
      class: 'num',
    },
    {
      title: 'Errors',
      csv: (d) => of(d, (m) => m.error_rate),
      cell: (d) => of(d, (m) => (m.error_rate > 0
        ? html`<${Status} tone="bad" word=${percent(m.error_rate)} />`
        : percent(0, 0))),
      class: 'num',
    },
    {
      title: 'p99',
      csv: (d) => of(d, (m) => m.answer_p99_ms ?? none),
      cell: (d) => of(d, (m) => (m.answer_p99_ms === null
        ? none
        : html`<span title=${`of ${count(m.samples, 'sampled answer', 'sampled answers')}`}>${
          millis(m.answer_p99_ms)}</span>`)),
      class: 'num',
    },
  ];
};

// NamesBySeverity lists the names with problems first, and then those with the most queries.
export function NamesBySeverity({ live, rates }) {
  const qps = (d) => rates?.names[d.name] || 0;
  const all = live.data?.domains || [];
  const rows = [...all].sort((a, b) => rankOf(a) - rankOf(b) || qps(b) - qps(a)).slice(0, listed);
  const names = rows.map((d) => d.name).sort().join(',');
  const { data } = useLive(
    names && `/v1/metrics/domains?limit=${listed}&names=${encodeURIComponent(names)}`,
    { lasting: true },
  );
  const metrics = data && Object.fromEntries(data.domains.map((m) => [m.domain, m]));
  return html`
    <${Panel}
      title="Names by severity"
      id="severity"
      aside=${all.length > listed && html`<a href="#/names">all ${number(live.data.total)}</a>`}
    >
      <${Waiting} live=${live} />
      ${live.data && html`
        <${Table}
          caption="names by severity"
          rows=${rows}
          columns=${nameColumns(metrics)}
          keyOf=${(d) => d.name}
          empty="No name."
        />
        <p class="dim">
          Load-balanced answers of this node. QPS and errors (SERVFAIL) are of the last one to two minutes. p99 is the
          time to make an answer, of samples of the last hour; the tile has the response time of all queries.
        </p>`}
    <//>`;
}

const toneOfRegion = (r) => (!r.server_count
  ? 'plain'
  : !r.serving_servers ? 'bad' : r.serving_servers < r.server_count ? 'warn' : 'good');

// Regions shows each region as a tile.
export function Regions({ rates }) {
  const live = useList('/v1/regions', 'regions');
  const regions = live.data?.regions || [];
  const all = Object.values(rates?.regions || {}).reduce((sum, n) => sum + n, 0);
  return regions.length > 0 && html`
    <${Panel} title="Regions" id="regions" aside=${html`<a href="#/map">map</a>`}>
      <ul class="plain sites">
        ${regions.map((r) => html`
          <li key=${r.id}>
            <a href=${'#/map/' + encodeURIComponent(r.id)}>${r.name}</a>
            <${Status} tone=${toneOfRegion(r)} word=${`${r.serving_servers} of ${r.server_count}`} />
            <span class="dim num">
              ${rates ? `${number(rates.regions[r.id] || 0)} QPS` : ''}
              ${all > 0 && ` · ${percent((rates.regions[r.id] || 0) / all, 0)}`}
            </span>
          </li>`)}
      </ul>
    <//>`;
}

// replicationOf describes the replication with a node.
function replicationOf(n, r) {
  if (!r || n.self) return { word: none, tone: 'plain' };
  if (!r.enabled) return { word: 'off', tone: 'plain' };
  const peer = r.peers.find((p) => p.node_id === n.id);
  if (!peer) return { word: 'unknown', tone: 'warn' };
  if (!peer.connected) return { word: 'no answer', tone: 'bad' };
  return peer.behind ? { word: `lacks ${count(peer.behind, 'object', 'objects')}`, tone: 'warn' }
    : { word: 'in sync', tone: 'good' };
}

const nodeColumns = (now, replication) => [
  {
    title: 'Node',
    csv: (n) => n.id,
    cell: (n) => html`<strong>${n.id}</strong>${n.self && html` <span class="dim">(this)</span>`}`,
  },
  { title: 'Status', csv: (n) => n.status, cell: (n) => html`<${Status} word=${n.status} />` },
  {
    title: 'Replication',
    csv: (n) => replicationOf(n, replication).word,
    cell: (n) => {
      const { word, tone } = replicationOf(n, replication);
      return word === none ? none : html`<${Status} tone=${tone} word=${word} />`;
    },
  },
  { title: 'Region', csv: (n) => n.region || none },
  { title: 'Version', csv: (n) => n.version || none },
  { title: 'Address', csv: (n) => n.address || none, class: 'mono' },
  {
    title: 'Last seen',
    csv: (n) => n.last_seen || none,
    cell: (n) => (n.self ? 'now' : html`<${When} at=${n.last_seen} now=${now} />`),
    class: 'num',
  },
];

export function Nodes() {
  const live = useLive('/v1/nodes/overwatch?limit=1000');
  const replication = useLive('/v1/replication').data;
  return html`
    <${Panel} title="Nodes" id="nodes">
      <${Waiting} live=${live} />
      ${live.data && html`
        <${Table}
          caption="nodes"
          rows=${live.data.nodes}
          columns=${nodeColumns(live.data.generated_at, replication)}
          keyOf=${(n) => n.id}
        />`}
    <//>`;
}
