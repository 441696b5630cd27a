// Notifications: the targets of events, their waiting events, and their errors.
import { html, useState } from '../dom.js';
import { mayOperate, request, useLive } from '../api.js';
import { number, since } from '../format.js';
import { Panel, Status, Waiting } from '../parts.js';
import { Table } from '../table.js';

const patience = 40000; // ms; the node's timeout for a receiver is 30 s
const stateOf = (t) => (t.failing_since
  ? `failing, since ${since(t.failing_since)}`
  : t.last_sent ? 'sent' : 'nothing sent yet');

const columns = (test, busy) => [
  { title: 'Target', csv: (t) => t.name },
  { title: 'Type', csv: (t) => t.type },
  {
    title: 'State',
    csv: stateOf,
    cell: (t) => html`
      <${Status} tone=${t.failing_since ? 'bad' : t.last_sent ? 'good' : 'plain'} word=${stateOf(t)} />`,
  },
  { title: 'Last sent', csv: (t) => t.last_sent || '', cell: (t) => since(t.last_sent) },
  { title: 'Waiting', csv: (t) => t.queued, cell: (t) => number(t.queued), class: 'num' },
  { title: 'Sent', csv: (t) => t.sent, cell: (t) => number(t.sent), class: 'num' },
  { title: 'Failed', csv: (t) => t.failed, cell: (t) => number(t.failed), class: 'num' },
  { title: 'Dropped', csv: (t) => t.dropped, cell: (t) => number(t.dropped), class: 'num' },
  { title: 'Last error', csv: (t) => t.last_error || '', class: 'why' },
  ...(mayOperate() ? [{
    title: 'Actions',
    class: 'act',
    cell: (t) => html`
      <button
        type="button"
        class="small"
        disabled=${busy}
        aria-label=${`Send ${t.name} a test`}
        onClick=${() => test(t.name)}
      >Send a test</button>`,
  }] : []),
];

export function Notifications() {
  const live = useLive('/v1/notifications', { pause: 5000 });
  const [state, setState] = useState({});
  const test = async (name) => {
    setState({ busy: true });
    try {
      setState({
        tested: (await request(
          `/v1/notifications/test?target=${encodeURIComponent(name)}`,
          { method: 'POST', patience },
        )).tests,
      });
    } catch (error) {
      setState({ error: error.message });
    }
  };
  return html`
    <${Panel} title="Notifications" id="notifications">
      <${Waiting} live=${live} />
      ${live.data && html`
        <${Table}
          caption="notifications"
          rows=${live.data.targets}
          columns=${columns(test, state.busy)}
          keyOf=${(t) => t.name}
          empty="No notifications: overwatch.notifications.targets is empty."
        />`}
      <div aria-live="polite">
        ${state.busy && html`<p class="dim">Sending</p>`}
        ${state.error && html`<p class="notice bad">${state.error}</p>`}
        ${state.tested?.map((t) => html`
          <p class=${'notice ' + (t.sent ? 'good' : 'bad')} key=${t.target}>
            ${t.target}: ${t.sent ? `the test was taken after ${t.duration_ms} ms` : t.error}
          </p>`)}
      </div>
    <//>`;
}
