// The page of agents: pinned agents with their services and the time of their last report, and rejected agents.
import { html, useState } from '../dom.js';
import { mayOperate, request, useList, useLive } from '../api.js';
import { clock, none, span } from '../format.js';
import { Change, Dialog } from '../dialog.js';
import { Cut, Panel, Status, Waiting, When } from '../parts.js';
import { Table, useFilter } from '../table.js';

const soon = 60 * 24; // hours; the conditions of the node begin at the same time

const columns = (now, revoke) => [
  {
    title: 'Agent',
    csv: (a) => a.agent_id,
    cell: (a) => html`
      <strong>${a.agent_id}</strong>
      <span class="note mono" title=${a.fingerprint}>${a.fingerprint.slice(7, 19)}</span>`,
  },
  {
    title: 'Status',
    csv: (a) => a.state,
    cell: (a) => html`
      <${Status} word=${a.state} title=${a.revoked_reason} />
      ${a.problems.map((p) => html`<span class="note" key=${p}>${p}</span>`)}`,
  },
  { title: 'Region', csv: (a) => a.region || none },
  { title: 'Services', csv: (a) => a.services.join(' '), class: 'why' },
  { title: 'Backends', csv: (a) => a.backends, class: 'num' },
  { title: 'Version', csv: (a) => a.version || none },
  {
    title: 'Pinned',
    csv: (a) => a.first_seen,
    cell: (a) => html`<${When} at=${a.first_seen} now=${now} />`,
    class: 'num',
  },
  {
    title: 'Last seen',
    csv: (a) => a.last_seen || none,
    cell: (a) => html`<${When} at=${a.last_seen} now=${now} />`,
    class: 'num',
  },
  {
    title: 'Certificate',
    csv: (a) => a.not_after,
    class: 'num',
    cell: (a) => (a.expires_in_hours < soon
      ? html`
        <${Status}
          tone=${a.expires_in_hours < 0 ? 'bad' : 'warn'}
          word=${a.expires_in_hours < 0 ? 'over' : `in ${span(a.expires_in_hours * 3600)}`}
        />`
      : `in ${span(a.expires_in_hours * 3600)}`),
  },
  { title: 'Fingerprint', csv: (a) => a.fingerprint, hidden: true },
  ...(mayOperate() ? [{
    title: 'Action',
    class: 'act',
    cell: (a) => !a.revoked && html`
      <button
        type="button"
        class="small"
        aria-label=${`Revoke ${a.agent_id}`}
        onClick=${() => revoke(a)}
      >Revoke</button>`,
  }] : []),
];

function Revoke({ agent, close }) {
  const fields = html`
    <p>
      The node rejects ${agent.agent_id} and removes its reports. Its backends stay if another agent reports them, or if
      the configuration or the API declares them.
    </p>
    <label>Reason <input
      name="reason"
      required
      maxlength="200"
      autocomplete="off"
      placeholder="its key was stolen"
    /></label>
    <label class="check">
      <input type="checkbox" name="lock" /> Lock the tokens of its services, so that no new agent can enrol
      with them
    </label>`;
  const send = ({ reason, lock }, query) => request(
    `/v1/overwatch/agents/${encodeURIComponent(agent.agent_id)}/revoke${query}`,
    { method: 'POST', body: { reason, lock_service: Boolean(lock) } },
  );
  return html`
    <${Dialog} title=${`Revoke ${agent.agent_id}`} close=${close}>
      <${Change}
        verb="Revoke"
        danger
        fields=${fields}
        takes=${{ agents: [agent.agent_id], removed: true }}
        send=${send}
        close=${close}
      />
    <//>`;
}

function Locks() {
  const locks = useLive('/v1/overwatch/locks').data?.locks || [];
  return locks.length > 0 && html`
    <${Panel} title="Locked tokens" id="locks">
      <ul class="plain">
        ${locks.map((l) => html`
          <li key=${l.service}>
            <${Status} tone="warn" word=${l.service} />
            since ${clock(l.locked_at)}, with ${l.agent_id}: ${l.reason}.
            ${' '}${l.admits_new
              ? 'Its new token admits agents.'
              : 'It admits no new agents until its token is changed.'}
          </li>`)}
      </ul>
    <//>`;
}

function Refused() {
  const live = useLive('/v1/audit-logs?actions=refused&resources=agent&limit=20&sort_order=desc');
  const entries = live.data?.entries || [];
  return html`
    <${Panel} title="Rejected" id="refusals">
      <${Waiting} live=${live} />
      ${live.data && (entries.length
        ? html`
          <ol class="recent">
            ${entries.map((e) => html`
              <li key=${e.id}>
                <time class="num" datetime=${e.timestamp}>${clock(e.timestamp)}</time>
                <strong>${e.resource_id}</strong>
                <span>${Object.values(e.details).join(', ')}</span>
              </li>`)}
          </ol>`
        : html`<p class="dim">No agent was rejected.</p>`)}
    <//>`;
}

export function Agents() {
  const pinned = useList('/v1/overwatch/agents', 'agents');
  const nodes = useList('/v1/nodes/agent', 'nodes');
  const [box, fits] = useFilter('Find an agent, service or region');
  const [revoking, revoke] = useState(null);
  const states = new Map((nodes.data?.nodes || []).map((n) => [n.id, n]));
  const others = states.size >= nodes.data?.total ? 'offline' : none; // the state of agents outside the list
  const rows = (pinned.data?.agents || [])
    .map((a) => ({ ...a, state: a.revoked ? 'revoked' : states.get(a.agent_id)?.status || others }))
    .filter((a) => fits([a.agent_id, a.region, a.state, ...a.services].join(' ')));
  const pending = (nodes.data?.nodes || []).filter((n) => n.status === 'pending');
  return html`
    <h1>Agents</h1>
    <${Waiting} live=${pinned} />
    ${pinned.data && html`
      <${Cut} has=${pinned.data.agents.length} total=${pinned.data.total} command="gslbctl agents list" />
      <${Table}
        caption="agents"
        rows=${rows}
        keyOf=${(a) => a.agent_id}
        columns=${columns(pinned.data.generated_at, revoke)}
        tools=${box}
        empty="No agent is pinned."
      />`}
    ${pending.length > 0 && html`
      <${Panel} title="Announced, without reports" id="pending">
        <p>${pending.map((n) => n.id).join(', ')}</p>
      <//>`}
    <${Locks} />
    <${Refused} />
    ${revoking && html`<${Revoke} agent=${revoking} close=${() => revoke(null)} />`}`;
}
