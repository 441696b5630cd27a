// The last day of a domain and its backends, by the events of the node.
import { html } from '../dom.js';
import { useLive } from '../api.js';
import { clock } from '../format.js';
import { Panel, useMinute, Waiting } from '../parts.js';

const day = 24 * 60; // minutes
const shownTracks = 40;

// tracksOf returns the track of the name, followed by the tracks of the backends with events. A track lists the
// unhealthy spans of the name or backend, in minutes from the start.
export function tracksOf(name, events, from) {
  const tracks = new Map([[name, []]]);
  const minute = (time) => Math.max(0, (Date.parse(time) - from) / 60000);
  const open = new Map();
  const seen = new Set();
  const close = (subject, end) => {
    const span = open.get(subject);
    open.delete(subject);
    if (span && end > 0) tracks.get(subject).push({ ...span, end });
  };
  for (const e of events) {
    if (!e.subject || e.state === 'more') continue;
    if (!tracks.has(e.subject)) tracks.set(e.subject, []);
    const at = minute(e.time);
    if (e.phase === 'ends' && !seen.has(e.subject)) open.set(e.subject, { begin: 0, state: 'not well' });
    seen.add(e.subject);
    close(e.subject, at);
    if (e.phase === 'begins') open.set(e.subject, { begin: at, state: e.state, severity: e.severity });
  }
  for (const subject of [...open.keys()]) close(subject, day);
  return tracks;
}

const toneOf = (span) => (span.severity === 'warning' && span.state !== 'unhealthy' ? '--warn' : '--bad');

export function History({ name }) {
  const from = useMinute() - day * 60000;
  // A state from before that day has no event in it, so the latest events of any age are requested.
  const live = useLive(`/v1/events?names=${encodeURIComponent(name)}&kinds=name,backend&limit=1000`);
  const tracks = [...tracksOf(name, live.data?.events || [], from)]
    .filter(([subject, spans]) => subject === name || spans.length);
  const time = (minutes) => (minutes >= day ? 'now' : clock(new Date(from + minutes * 60000).toISOString()).slice(11));
  return html`
    <${Panel} title="Last 24 hours" id="history">
      <${Waiting} live=${live} />
      ${live.data && html`
        <ul class="plain tracks">
          ${tracks.slice(0, shownTracks).map(([subject, spans]) => html`
            <li key=${subject} class="track">
              <span class="mono">${subject === name ? name : subject.slice(name.length + 1)}</span>
              <svg viewBox=${`0 0 ${day} 10`} preserveAspectRatio="none" aria-hidden="true">
                <rect width=${day} height="10" style=${{ fill: 'var(--good)' }} />
                ${spans.map((s) => html`
                  <rect
                    x=${s.begin}
                    width=${Math.max(2, s.end - s.begin)}
                    height="10"
                    style=${{ fill: `var(${toneOf(s)})` }}
                  />`)}
              </svg>
              <span class="note">
                ${spans.length
                  ? spans.slice(-3)
                    .map((s) => `${s.state} ${s.begin ? time(s.begin) : '...'} to ${time(s.end)}`)
                    .join('; ')
                  : 'well all the time'}
              </span>
            </li>`)}
        </ul>
        ${tracks.length > shownTracks && html`
          <p class="dim">and ${tracks.length - shownTracks} more backends with events</p>`}
        <p class="dim">By the events that this node has kept. While it was not running, what was last is shown.</p>`}
    <//>`;
}
