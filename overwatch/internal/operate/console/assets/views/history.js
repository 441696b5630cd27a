// The last day of a domain and its backends, by the events of the node.
import { html } from '../dom.js';
import { useList, useLive } from '../api.js';
import { clock } from '../format.js';
import { Panel, useMinute, Waiting } from '../parts.js';

const day = 24 * 60; // minutes
const shownTracks = 40;
const shortest = 4; // minutes at the right edge, so that the begin of an outage is visible

// momentary has the spans that begin with a stop or a start of a flapping backend. These events have the phase once.
const momentary = { stopped: { state: 'unhealthy' }, started: { state: 'flapping', severity: 'warning' } };

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
    if (e.phase === 'ends' && !seen.has(e.subject)) open.set(e.subject, { begin: 0, state: 'unhealthy' });
    seen.add(e.subject);
    if (e.phase === 'once' && !momentary[e.state]) continue;
    close(e.subject, at);
    if (e.phase === 'begins') open.set(e.subject, { begin: at, state: e.state, severity: e.severity });
    if (e.phase === 'once') open.set(e.subject, { begin: at, ...momentary[e.state] });
  }
  for (const subject of [...open.keys()]) close(subject, day);
  return tracks;
}

const serving = ['reduced', 'flapping']; // states of events in which a backend can serve

// joinPresent corrects the end of each track by the present state, which can be newer than the events: a name or
// backend that is down now ends with a span of an outage, even if its last event is a warning, such as of a flapping
// backend. A name or backend that is up does not. down has the state by subject, '' if it is up.
function joinPresent(tracks, down) {
  for (const [subject, state] of down) {
    const spans = tracks.get(subject) || [];
    const last = spans.at(-1);
    const isOpen = last?.end === day;
    if (state && !(isOpen && toneOf(last) === '--bad')) spans.push({ begin: day, end: day, state });
    if (!state && isOpen && !serving.includes(last.state)) spans[spans.length - 1] = { ...last, ended: true };
    tracks.set(subject, spans);
  }
  return tracks;
}

const toneOf = (span) => (span.severity === 'warning' && span.state !== 'unhealthy' ? '--warn' : '--bad');

// drawn returns the spans in the order of drawing: of spans at one place, the worst is visible.
const drawn = (spans) => [...spans].sort((a, b) => (toneOf(a) === '--bad') - (toneOf(b) === '--bad'));

const answerStates = { none: 'unanswered', fallback: 'fallback answer' };

// presentOf lists the present state of a domain and its backends, '' if it is up. A drained backend counts as up.
function presentOf(domain, backends) {
  const of = (b) => (b.may_serve || b.draining && b.effective_status === 'healthy' ? '' : b.effective_status);
  return [[domain.name, answerStates[domain.answer_status] || ''], ...backends.map((b) => [b.id, of(b)])];
}

export function History({ name, domain }) {
  const from = useMinute() - day * 60000;
  // A state from before that day has no event in it, so the latest events of any age are requested.
  const live = useLive(`/v1/events?names=${encodeURIComponent(name)}&kinds=name,backend&limit=1000`);
  const list = useList(`/v1/overwatch/backends?service=${encodeURIComponent(name)}`, 'backends');
  const backends = list.data?.backends || [];
  const tracks = [...joinPresent(tracksOf(name, live.data?.events || [], from), presentOf(domain, backends))]
    .filter(([subject, spans]) => subject === name || spans.length);
  const time = (minutes) => (minutes >= day ? 'now' : clock(new Date(from + minutes * 60000).toISOString()).slice(11));
  const textOf = (s) => (s.begin >= day
    ? `${s.state} now`
    : `${s.state} ${s.begin ? time(s.begin) : '...'} to ${s.ended ? 'a moment ago' : time(s.end)}`);
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
                ${drawn(spans).map((s) => html`
                  <rect
                    class="outage"
                    x=${Math.min(s.begin, day - shortest)}
                    width=${Math.max(0.01, s.end - Math.min(s.begin, day - shortest))}
                    height="10"
                    style=${{ fill: `var(${toneOf(s)})`, stroke: `var(${toneOf(s)})` }}
                  />`)}
              </svg>
              <span class="note">
                ${spans.length
                  ? spans.slice(-3).map(textOf).join('; ')
                  : 'no outage'}
              </span>
            </li>`)}
        </ul>
        ${tracks.length > shownTracks && html`
          <p class="dim">and ${tracks.length - shownTracks} more backends with events</p>`}
        <p class="dim">
          From the events of this node. A bar of a short outage is at least 3 pixels wide. While the node was not
          running, the last state is shown.
        </p>`}
    <//>`;
}
