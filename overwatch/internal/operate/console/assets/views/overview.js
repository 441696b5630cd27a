// Overview: the health of this node and the problems that need attention, its figures now and over a day, the latest
// events, all nodes, and the answers by outcome.
import { html, useRef } from '../dom.js';
import { useList, useLive } from '../api.js';
import { Chart } from '../chart.js';
import { count, none, number, percent, since, span, viewOf } from '../format.js';
import { Panel, Share, Status, Waiting } from '../parts.js';
import { Table } from '../table.js';
import { Recent } from './recent.js';

// headline returns the first line of the view in two parts: its coloured word, and the rest. gslbctl status writes the
// same line.
function headline(status, problems) {
  if (!problems) return ['healthy', ': nothing needs attention'];
  if (status === 'healthy') return ['attention', `: ${problems}`];
  return [status, `: ${count(problems, 'thing needs', 'things need')} attention`];
}

function Band() {
  const live = useLive('/v1/overwatch/conditions');
  const ready = useLive('/v1/ready').data;
  if (!live.data) return html`<${Waiting} live=${live} />`;
  const { status, conditions, total } = live.data;
  const waiting = ready && !ready.ready;
  const [word, rest] = headline(status, total + (waiting ? 1 : 0));
  const tone = { healthy: 'good', unhealthy: 'bad' }[word] || 'warn';
  return html`
    <section class=${'band ' + tone} aria-labelledby="band">
      <h1 id="band"><span role="status"><span class="word">${word}</span>${rest}</span></h1>
      ${(total > 0 || waiting) && html`
        <ul>
          ${waiting && html`<li>not ready: ${ready.message}</li>`}
          ${conditions.map((c) => html`
            <li key=${c.kind + c.sentence}>
              <span class=${'severity ' + (c.severity === 'unhealthy' ? 'bad' : 'warn')}>${c.severity}</span>
              <a href=${viewOf(c)}>${c.sentence}</a> <code>${c.command}</code>
            </li>`)}
          ${total > conditions.length && html`<li>and ${total - conditions.length} more</li>`}
        </ul>`}
    </section>`;
}

function Tile({ name, value, note, tone }) {
  return html`
    <div class="tile">
      <dt>${name}</dt>
      <dd>
        <span class=${'value ' + (tone || '')}>${value}</span>
        ${note && html` <span class="dim">${note}</span>`}
      </dd>
    </div>`;
}

const toneOfParts = (some, all) => (some === all ? '' : some ? 'warn' : 'bad');

// upOf counts the domains with a serving backend, and all domains. Disabled domains are not counted.
function upOf({ domains }) {
  const on = domains.filter((d) => d.enabled);
  return [on.filter((d) => d.healthy_backends > 0).length, on.length];
}

// cutOf describes the counted domains if the list is incomplete.
const cutOf = ({ domains, total }) => (total > domains.length ? `of the first ${number(domains.length)}` : '');

function Tiles({ stats, domains, overview }) {
  const up = domains && upOf(domains);
  return html`
    <dl class="tiles">
      <${Tile}
        name="queries a second"
        value=${overview ? number(overview.queries_per_sec) : none}
        note="last minute"
      />
      <${Tile}
        name="answered in"
        value=${overview ? `${number(overview.response_times.p99_ms)} ms` : none}
        note="99 of 100"
      />
      <${Tile}
        name="failed answers"
        value=${overview ? percent(overview.error_rate, 2) : none}
        tone=${overview?.error_rate > 0 ? 'bad' : ''}
      />
      <${Tile}
        name="domains up"
        value=${up ? up.join('/') : none}
        note=${up && cutOf(domains)}
        tone=${up && toneOfParts(...up)}
      />
      <${Tile}
        name="backends healthy"
        value=${stats ? `${stats.healthy_backends}/${stats.total_backends}` : none}
        tone=${stats && toneOfParts(stats.healthy_backends, stats.total_backends)}
      />
      <${Tile} name="active agents" value=${stats ? stats.active_agents : none} />
    </dl>`;
}

function replicated(r) {
  if (!r) return none;
  const peers = r.enabled ? `${r.peers.filter((p) => p.connected).length}/${r.peers.length} peers` : 'off';
  return [
    peers,
    r.refused.length > 0 && `${r.refused.length} refused`,
    r.unused_total > 0 && `${r.unused_total} unused`,
  ].filter(Boolean).join(', ');
}

// Facts shows the rows of gslbctl status, in the same words and order.
function Facts({ stats, domains }) {
  const health = useLive('/health').data;
  const ready = useLive('/v1/ready').data;
  const replication = useLive('/v1/replication').data;
  const of = (value) => (stats ? value(stats) : none);
  const checks = (s) => (s.validation_suspended
    ? 'self-isolation'
    : s.validation_enabled ? `${s.validated_backends}/${s.total_backends}` : 'off');
  const rows = [
    ['status', health ? html`<${Status} word=${health.status} />` : none],
    ['ready', ready ? html`<${Status} word=${ready.ready ? 'yes' : 'no'} />` : none],
    ['version', health?.version ?? none],
    ['up', health ? span(health.uptime_seconds) : none],
    ['cluster', of((s) => s.cluster_name || none)],
    ['domains up', domains ? `${upOf(domains).join('/')} ${cutOf(domains)}` : none],
    ['backends healthy', of((s) => `${s.healthy_backends}/${s.total_backends}`)],
    ['unhealthy', of((s) => s.unhealthy_backends)],
    ['stale', of((s) => s.stale_backends)],
    ['draining', of((s) => s.draining_backends)],
    ['overrides', of((s) => s.active_overrides)],
    ['active agents', of((s) => s.active_agents)],
    ['own checks', of(checks)],
    ['replication', replicated(replication)],
  ];
  return html`
    <${Panel} title="This node" id="facts">
      <dl class="facts">
        ${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}
      </dl>
    <//>`;
}

const nodeColumns = (now) => [
  {
    title: 'Node',
    csv: (n) => n.id,
    cell: (n) => html`<strong>${n.id}</strong>${n.self && html` <span class="dim">(this)</span>`}`,
  },
  { title: 'Status', csv: (n) => n.status, cell: (n) => html`<${Status} word=${n.status} />` },
  { title: 'Region', csv: (n) => n.region || none },
  { title: 'Version', csv: (n) => n.version || none },
  { title: 'Address', csv: (n) => n.address || none, class: 'mono' },
  { title: 'Queries/s', csv: (n) => (n.self ? number(n.queries_per_sec) : none), class: 'num' },
  {
    title: 'Heard',
    csv: (n) => n.last_seen || none,
    cell: (n) => (n.self ? 'now' : since(n.last_seen, now)),
    class: 'num',
  },
];

function Nodes() {
  const live = useLive('/v1/nodes/overwatch?limit=1000');
  return html`
    <${Panel} title="Nodes" id="nodes">
      <${Waiting} live=${live} />
      ${live.data && html`
        <${Table}
          caption="nodes"
          rows=${live.data.nodes}
          columns=${nodeColumns(live.data.generated_at)}
          keyOf=${(n) => n.id}
        />`}
    <//>`;
}

// Outcomes shows the answers since the page was opened, by outcome. Until there are any, it shows those since the node
// started.
function Outcomes() {
  const live = useLive('/v1/metrics/routing');
  const first = useRef(null);
  const stats = live.data?.stats;
  if (stats && (!first.current || first.current.total_decisions > stats.total_decisions)) first.current = stats;
  const before = first.current && stats && stats.total_decisions > first.current.total_decisions ? first.current : null;
  const rows = Object.entries(stats?.by_outcome || {})
    .map(([word, n]) => ({ word, n: n - (before?.by_outcome[word] || 0) }))
    .filter((row) => row.n > 0)
    .sort((a, b) => b.n - a.n);
  const all = rows.reduce((sum, row) => sum + row.n, 0);
  return html`
    <${Panel}
      title="Answers by outcome"
      id="outcomes"
      aside=${html`<span class="dim">${before ? 'since this page was opened' : "since the node's start"}</span>`}
    >
      <${Waiting} live=${live} />
      ${stats && (rows.length
        ? html`
          <ul class="plain">
            ${rows.map((row) => html`
              <li key=${row.word} class="outcome">
                <${Status} word=${row.word} />
                <${Share} part=${row.n / all} text=${`${number(row.n)} · ${percent(row.n / all)}`} />
              </li>`)}
          </ul>`
        : html`<p class="dim">No name that is steered was asked for yet.</p>`)}
    <//>`;
}

function Day() {
  const live = useLive('/v1/metrics/history?duration=24h&resolution=1m', { pause: 20000 });
  const points = live.data?.data_points || [];
  return html`
    <${Panel} title="Last 24 hours" id="day">
      <div class="charts">
        <${Chart}
          name="Queries a second"
          points=${points}
          format=${number}
          lines=${[{ label: 'queries/s', of: 'queries_per_sec', colour: '--blue', fill: true }]}
        />
        <${Chart}
          name="Backends"
          points=${points}
          format=${(v) => String(Math.round(v))}
          lines=${[
            { label: 'healthy', of: 'healthy_servers', colour: '--good' },
            { label: 'unhealthy', of: 'unhealthy_servers', colour: '--bad' },
            { label: 'stale', of: 'stale_servers', colour: '--warn' },
          ]}
        />
      </div>
    <//>`;
}

export function Overview() {
  const stats = useLive('/v1/overwatch/stats').data;
  const domains = useList('/v1/domains', 'domains').data;
  const overview = useLive('/v1/metrics/overview').data?.overview;
  return html`
    <${Band} />
    <${Tiles} stats=${stats} domains=${domains} overview=${overview} />
    <${Day} />
    <div class="two">
      <div>
        <${Recent} />
        <${Nodes} />
      </div>
      <div>
        <${Facts} stats=${stats} domains=${domains} />
        <${Outcomes} />
      </div>
    </div>`;
}
