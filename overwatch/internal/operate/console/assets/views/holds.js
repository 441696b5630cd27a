// Release: the end of a mass-failure hold, in which the node ignores agent reports.
import { html, useState } from '../dom.js';
import { mayOperate, request, useLive } from '../api.js';
import { Change, Dialog } from '../dialog.js';
import { count } from '../format.js';
import { Waiting } from '../parts.js';

// covers reports whether a hold is one of a subject. A name also has the holds of regions and agents of its backends.
const covers = {
  name: (hold, name) => hold.service === name || hold.backends.some((id) => id.startsWith(`${name}:`)),
  region: (hold, region) => hold.region === region,
  agent: (hold, agent) => !hold.region && hold.agent === agent,
};

function Form({ scope, subject, close }) {
  const live = useLive('/v1/overwatch/brakes?limit=1000');
  if (!live.data) return html`<${Waiting} live=${live} />`;
  const holds = live.data.brakes.filter((hold) => covers[scope](hold, subject));
  const own = (id) => scope !== 'name' || id.startsWith(`${subject}:`);
  const held = [...new Set(holds.flatMap((hold) => hold.backends))].filter(own);
  const stops = [...new Set(holds
    .filter((hold) => hold.concern === 'unhealthy')
    .flatMap((hold) => hold.backends))].filter(own);
  const fields = html`
    <p>
      The agent reports about ${count(held.length, 'backend', 'backends')} take effect immediately. Backends that are
      reported as unhealthy stop serving.
    </p>`;
  const path = `/v1/overwatch/brakes/${encodeURIComponent(subject)}`;
  const send = (_, query) => request(
    `${path}?${new URLSearchParams({ scope, ...(query && { if_safe: true }) })}`,
    { method: 'DELETE' },
  );
  return html`
    <${Change}
      verb="Release"
      fields=${fields}
      takes=${stops.length ? { backends: stops } : null}
      send=${send}
      close=${close}
    />`;
}

// Release is a button that ends the hold of the subject of a condition: a name, "region <id>" or "agent <id>".
export function Release({ subject }) {
  const [opened, open] = useState(false);
  const [, scope = 'name', of = subject] = /^(region|agent) (.+)$/.exec(subject) || [];
  if (!mayOperate()) return null;
  return html`
    <button type="button" class="small" aria-label=${`Release the hold of ${subject}`} onClick=${() => open(true)}>
      Release
    </button>
    ${opened && html`
      <${Dialog} title=${`Release the hold of ${subject}`} close=${() => open(false)}>
        <${Form} scope=${scope} subject=${of} close=${() => open(false)} />
      <//>`}`;
}
