// Events: the journal of this node with filters. The filters are in the address.
import { html, useRef, useState } from '../dom.js';
import { useLive } from '../api.js';
import { number } from '../format.js';
import { Age, Choice, go, Waiting } from '../parts.js';
import { EventLine } from './recent.js';

const kinds = [
  'name', 'backend', 'region', 'agent', 'node', 'share', 'override', 'weight', 'drain', 'brake', 'suspension',
  'change', 'reload', 'replication', 'key', 'signing', 'certificate', 'token', 'store', 'service', 'notification',
  'geo', 'refused',
];
const severities = ['critical', 'error', 'warning', 'info'];
const first = 200, most = 1000; // events in a list

export function Events({ path: [kind = '', name = '', severity = '', text = ''] }) {
  const [limit, setLimit] = useState(first);
  const filter = { kind, name, severity, text };
  const choose = (part) => {
    const f = { ...filter, ...part };
    go('events', f.kind, f.name, f.severity, f.text);
  };
  const query = new URLSearchParams({
    limit: text ? most : limit, // the page searches the text itself
    ...(kind && { kinds: kind }),
    ...(name && { names: name }),
    ...(severity && { severity }),
  });
  const live = useLive(`/v1/events?${query}`);
  const last = useRef(null); // shown until the answer to other filters comes
  const data = last.current = live.data || last.current;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const list = (data?.events.toReversed() || [])
    .filter((e) => words.every((w) => `${e.sentence} ${e.subject} ${e.state}`.toLowerCase().includes(w)));
  return html`
    <h1>Events</h1>
    <div class="line filters">
      <${Choice} name="kind" label="Kind" words=${kinds} value=${kind} choose=${choose} />
      <label>Name <input
        type="search"
        name="name"
        placeholder="app.example.com"
        value=${name}
        onChange=${(e) => choose({ name: e.target.value.trim() })}
      /></label>
      <${Choice} name="severity" label="Severity, at least" words=${severities} value=${severity} choose=${choose} />
      <label>Text <input
        type="search"
        name="text"
        value=${text}
        onInput=${(e) => choose({ text: e.target.value })}
      /></label>
    </div>
    <${Waiting} live=${live} />
    ${data && html`
      <p class="dim">${number(list.length)} of ${number(data.total)} events <${Age} /></p>
      <ol class="recent panel" aria-label="Events">
        ${list.map((e) => html`<${EventLine} key=${e.sequence} e=${e} now=${data.generated_at} />`)}
        ${!list.length && html`<li class="dim">No event matches the filters.</li>`}
      </ol>
      ${data.total > data.events.length && limit < most && !text && html`
        <button type="button" onClick=${() => setLimit(most)}>Show up to ${number(most)}</button>`}
      ${data.total > most && limit === most && html`
        <p class="dim">the latest ${number(most)}; <code>gslbctl events --since</code> has older ones</p>`}`}`;
}
