// The latest events, and the line of an event.
import { html } from '../dom.js';
import { useLive } from '../api.js';
import { clock, local, utc, viewOf } from '../format.js';
import { marks, Panel, Waiting, When } from '../parts.js';

const tones = { critical: 'bad', error: 'bad', warning: 'warn', info: 'plain' };

// toneOf returns the tone of an event. The end of a problem has the good tone.
export const toneOf = (e) => (e.phase === 'ends' ? 'good' : tones[e.severity] || 'plain');

// stampOf writes the time of an event in the browser's time zone, with the date unless it is today.
const stampOf = (moment) => {
  const at = new Date(moment);
  return at.toDateString() === new Date().toDateString()
    ? local(moment)
    : `${at.toLocaleDateString('en', { month: 'short', day: 'numeric' })}, ${local(moment).slice(0, 5)}`;
};

const Detail = ({ name, value }) => value && html`<dt>${name}</dt><dd>${value}</dd>`;

// EventLine shows an event in one line, with its details on demand. The page of a name omits the links to the name.
export function EventLine({ e, now, ofName }) {
  const tone = toneOf(e);
  const view = !ofName && viewOf(e);
  return html`
    <li class="event">
      <span class="num dim"><time datetime=${e.time} title=${utc(e.time)}>${stampOf(e.time)}</time></span>
      <span class=${'status ' + tone}>
        <span aria-hidden="true">${marks[tone]}</span>
        ${' '}${view ? html`<a href=${view}>${e.kind}</a>` : html`<span>${e.kind}</span>`}
      </span>
      <details>
        <summary>${e.sentence}</summary>
        <dl class="facts">
          <dt>time</dt>
          <dd>${clock(e.time)} (<${When} at=${e.time} now=${now} />)</dd>
          <${Detail} name="severity" value=${e.severity} />
          <${Detail} name="state" value=${e.state} />
          <${Detail} name="subject" value=${e.subject} />
          <${Detail} name="name" value=${e.name} />
          <${Detail} name="region" value=${e.region} />
          <${Detail} name="cause" value=${e.cause} />
          <${Detail} name="agent report" value=${e.agent} />
          <${Detail} name="own check" value=${e.check} />
          <${Detail}
            name="audit log"
            value=${e.audit > 0 && html`<a href=${`#/audit/////${e.audit}`}>entry ${e.audit}</a>`}
          />
        </dl>
      </details>
    </li>`;
}

// Recent lists the latest events, of all subjects or of a domain.
export function Recent({ name, shown = 12 }) {
  const live = useLive(`/v1/events?limit=${shown}${name ? `&names=${encodeURIComponent(name)}` : ''}`);
  const list = live.data?.events.toReversed() || [];
  return html`
    <${Panel}
      title="Events"
      id="recent"
      aside=${html`<a href=${name ? `#/events//${encodeURIComponent(name)}` : '#/events'}>all events</a>`}
    >
      <${Waiting} live=${live} />
      ${live.data && (list.length
        ? html`
          <ol class="recent">
            ${list.map((e) => html`
              <${EventLine} key=${e.sequence} e=${e} now=${live.data.generated_at} ofName=${name !== undefined} />`)}
          </ol>`
        : html`<p class="dim">No events yet.</p>`)}
    <//>`;
}
