// Overview: the status of this node. It has the conditions, the figures now and over a selected time, the names by
// severity, the regions, all nodes, the latest events, and the answers by outcome.
import { html, useRef } from '../dom.js';
import { useList, useLive } from '../api.js';
import { decisionWord, millis, none, number, percent, span } from '../format.js';
import { Age, Panel, Share, Status, Waiting } from '../parts.js';
import { Charts } from './charts.js';
import { Band } from './conditions.js';
import { useRates } from './rates.js';
import { Recent } from './recent.js';
import { NamesBySeverity, Nodes, Regions } from './status.js';

function Tile({ name, value, note, tone }) {
  return html`
    <div class="tile">
      <dt>${name}</dt>
      <dd>
        <span class=${'value ' + (tone || '')}>${value}</span>
        ${note && html` <span class="dim">${note}</span>`} <${Age} />
      </dd>
    </div>`;
}

const toneOfParts = (some, all) => (some === all ? '' : some ? 'warn' : 'bad');

// answeredOf counts the domains that have an answer, and all domains. Disabled domains are not counted.
function answeredOf({ domains }) {
  const on = domains.filter((d) => d.enabled);
  return [on.filter((d) => d.answer_status !== 'none').length, on.length];
}

// cutOf describes the counted domains if the list is incomplete.
const cutOf = ({ domains, total }) => (total > domains.length ? `of the first ${number(domains.length)}` : '');

function Tiles({ stats, domains, overview, nodes }) {
  const up = domains && answeredOf(domains);
  const online = nodes && [nodes.nodes.filter((n) => n.status === 'online').length, nodes.total];
  return html`
    <dl class="tiles">
      <${Tile}
        name="QPS"
        value=${overview ? number(overview.queries_per_sec) : none}
        note="all queries, last minute"
      />
      <${Tile}
        name="p99"
        value=${overview ? millis(overview.response_times.p99_ms) : none}
        note="response time, last minute"
      />
      <${Tile}
        name="errors"
        value=${overview ? percent(overview.error_rate, 2) : none}
        note="SERVFAIL, last minute"
        tone=${overview?.error_rate > 0 ? 'bad' : ''}
      />
      <${Tile}
        name="names with an answer"
        value=${up ? up.join('/') : none}
        note=${up && cutOf(domains)}
        tone=${up && toneOfParts(...up)}
      />
      <${Tile}
        name="backends serving"
        value=${stats ? `${stats.serving_backends}/${stats.total_backends}` : none}
        tone=${stats && toneOfParts(stats.serving_backends, stats.total_backends)}
      />
      <${Tile}
        name="nodes online"
        value=${online ? online.join('/') : none}
        tone=${online && toneOfParts(...online)}
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

// Facts shows the state of this node. The statuses of backends add up to all backends. A draining or drained backend
// also has one of them.
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
    ['names with an answer', domains ? `${answeredOf(domains).join('/')} ${cutOf(domains)}` : none],
    ['backends serving', of((s) => `${s.serving_backends}/${s.total_backends}`)],
    ['healthy backends', of((s) => s.healthy_backends)],
    ['unhealthy backends', of((s) => s.unhealthy_backends)],
    ['stale backends', of((s) => s.stale_backends)],
    ['draining backends', of((s) => s.draining_backends)],
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
      aside=${html`<span class="dim">${before ? 'since this page was opened' : 'since the node started'}</span>`}
    >
      <${Waiting} live=${live} />
      <p class="dim">Load-balanced answers only. QPS and errors count all queries.</p>
      ${stats && (rows.length
        ? html`
          <ul class="plain">
            ${rows.map((row) => html`
              <li key=${row.word} class="outcome">
                <${Status} word=${decisionWord(row.word)} />
                <${Share} part=${row.n / all} text=${`${number(row.n)} · ${percent(row.n / all)}`} />
              </li>`)}
          </ul>`
        : html`<p class="dim">No query for a load-balanced name yet.</p>`)}
    <//>`;
}

export function Overview() {
  const stats = useLive('/v1/overwatch/stats').data;
  const domains = useList('/v1/domains', 'domains');
  const overview = useLive('/v1/metrics/overview').data?.overview;
  const nodes = useLive('/v1/nodes/overwatch?limit=1000').data;
  const rates = useRates();
  return html`
    <${Band} />
    <${Tiles} stats=${stats} domains=${domains.data} overview=${overview} nodes=${nodes} />
    <${NamesBySeverity} live=${domains} rates=${rates} />
    <${Charts} stats=${stats} overview=${overview} />
    <div class="two">
      <div>
        <${Recent} />
        <${Nodes} />
      </div>
      <div>
        <${Regions} rates=${rates} />
        <${Facts} stats=${stats} domains=${domains.data} />
        <${Outcomes} />
      </div>
    </div>`;
}
