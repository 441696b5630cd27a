// The latest events.
import { html } from '../dom.js';
import { useLive } from '../api.js';
import { clock, viewOf } from '../format.js';
import { Panel, Waiting } from '../parts.js';

const tones = { critical: 'bad', error: 'bad', warning: 'warn', info: 'plain' };
const marks = { bad: '■', warn: '▲', plain: '○', good: '●' };

// toneOf returns the tone of an event. The end of a problem has the good tone.
const toneOf = (e) => (e.phase === 'ends' ? 'good' : tones[e.severity] || 'plain');

// Recent lists the latest events, of all subjects or of a domain.
export function Recent({ name, shown = 12 }) {
  const live = useLive(`/v1/events?limit=${shown}${name ? `&names=${encodeURIComponent(name)}` : ''}`);
  const list = live.data?.events.toReversed() || [];
  return html`
    <${Panel} title="What happened" id="recent">
      <${Waiting} live=${live} />
      ${live.data && (list.length
        ? html`
          <ol class="recent">
            ${list.map((e) => html`
              <li key=${e.sequence} class="event">
                <time datetime=${e.time} class="num" title=${e.time}>
                  ${name ? clock(e.time) : clock(e.time).slice(11)}
                </time>
                <span class=${'status ' + toneOf(e)}>
                  <span aria-hidden="true">${marks[toneOf(e)]}</span>
                  ${' '}${name ? html`<span>${e.kind}</span>` : html`<a href=${viewOf(e)}>${e.kind}</a>`}
                </span>
                ${' '}<span>${e.sentence}</span>
              </li>`)}
          </ol>`
        : html`<p class="dim">Nothing yet.</p>`)}
    <//>`;
}
