// DrainRegion: the drain of all backends of a region, and its end.
import { html, useState } from '../dom.js';
import { mayOperate, Refusal, request } from '../api.js';
import { given } from '../actions.js';
import { Change, Dialog } from '../dialog.js';
import { count } from '../format.js';

// ofEach sends a request for the drain of each backend. It stops at the first error, which names the backend.
async function ofEach(backends, query, options) {
  for (const b of backends) {
    try {
      await request(`/v1/servers/${encodeURIComponent(b.id)}/drain${query}`, options);
    } catch (error) {
      throw new Refusal(error.status, `${b.id}: ${error.message}`);
    }
  }
}

const fields = html`
  <label>Over <input
    name="duration"
    autocomplete="off"
    placeholder="the TTL of each name, or 5m"
    pattern="([0-9.]+(s|m|h))+"
  /></label>
  <label>Reason <input name="reason" maxlength="200" autocomplete="off" placeholder="may be left out" /></label>`;

// DrainRegion is a button for the drain of a region. If all its backends are drained, the button ends the drains. A
// partial list of backends has no button, because the drain would be partial.
export function DrainRegion({ region, list }) {
  const [opened, open] = useState('');
  const backends = list?.backends || [];
  const drained = backends.filter((b) => b.drain), others = backends.filter((b) => !b.drain);
  const verb = others.length ? 'Drain' : 'Undrain';
  if (!mayOperate() || !backends.length || list.total > backends.length) return null;
  const change = opened === 'Drain'
    ? {
      fields: html`
        <p>The shares of ${count(others.length, 'backend', 'backends')} fall to 0. Existing connections can finish.</p>
        ${fields}`,
      takes: { regions: [region.id] },
      send: (values, query) => ofEach(others, query, { method: 'POST', body: given(values) }),
    }
    : {
      fields: html`<p>The full shares of ${count(drained.length, 'backend', 'backends')} return immediately.</p>`,
      takes: null,
      send: () => ofEach(drained, '', { method: 'DELETE' }),
    };
  return html`
    <button
      type="button"
      class="small"
      aria-label=${`${verb} ${region.name}`}
      onClick=${() => open(verb)}
    >${verb}</button>
    ${opened && html`
      <${Dialog} title=${`${opened} ${region.name}`} close=${() => open('')}>
        <${Change} verb=${opened} ...${change} close=${() => open('')} />
      <//>`}`;
}
