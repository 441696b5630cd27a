// Replication: the nodes of the replication, and the objects that have no effect on this node.
import { html } from '../dom.js';
import { useLive } from '../api.js';
import { count, none, number, since } from '../format.js';
import { Panel, Status } from '../parts.js';
import { Table } from '../table.js';

const peerColumns = (now) => [
  {
    title: 'Node',
    csv: (p) => p.node_id || p.peer,
    cell: (p) => html`
      <strong>${p.node_id || none}</strong>
      <span class="note mono">${p.peer}</span>`,
  },
  { title: 'Address', csv: (p) => p.peer, hidden: true },
  {
    title: 'Status',
    csv: (p) => (p.connected ? 'online' : 'no answer'),
    cell: (p) => html`<${Status} word=${p.connected ? 'online' : 'no answer'} />`,
  },
  { title: 'Since', csv: (p) => p.since, cell: (p) => since(p.since, now), class: 'num' },
  { title: 'Lacks', csv: (p) => p.behind, class: 'num' },
  { title: 'Its clock', csv: (p) => `${p.clock_difference_ms} ms`, class: 'num' },
  { title: 'Error', csv: (p) => p.error || none, class: 'why' },
];

const idleColumns = [
  { title: 'What', csv: (o) => o.kind },
  { title: 'Which', csv: (o) => o.name, class: 'mono' },
  {
    title: 'State',
    csv: (o) => o.state,
    cell: (o) => html`<${Status} tone=${o.state === 'refused' ? 'warn' : 'plain'} word=${o.state} />`,
  },
  { title: 'Why', csv: (o) => o.reason, class: 'why' },
];

export function Replication() {
  const r = useLive('/v1/replication').data;
  if (!r) return null;
  const idle = [
    ...r.refused.map((o) => ({ ...o, state: 'refused' })),
    ...r.unused.map((o) => ({ ...o, state: 'unused' })),
  ];
  return html`
    <${Panel} title="Replication" id="replication">
      ${!r.enabled
        ? html`<p class="dim">Off: ${r.off_reason}</p>`
        : html`
          <p>
            ${count(r.objects, 'decision', 'decisions')}, ${count(r.tombstones, 'deletion', 'deletions')} remembered.
            ${r.joining && ' This node still accepts changes of other nodes.'}
          </p>
          <${Table}
            caption="peers of the replication"
            rows=${r.peers}
            columns=${peerColumns()}
            keyOf=${(p) => p.peer}
            empty="No other node."
          />`}
      ${idle.length > 0 && html`
        <h3>Without effect on this node</h3>
        <${Table}
          caption="decisions without effect"
          rows=${idle}
          columns=${idleColumns}
          keyOf=${(o) => o.state + o.kind + o.name}
        />`}
      ${r.unused_total > r.unused.length && html`
        <p class="dim">and ${number(r.unused_total - r.unused.length)} more that are unused</p>`}
    <//>`;
}
