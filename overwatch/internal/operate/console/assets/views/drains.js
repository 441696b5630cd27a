// Drains of a name: how much is left, and when the backend may be stopped.
import { html, useEffect, useRef, useState } from '../dom.js';
import { endpoint, percent, span } from '../format.js';
import { Panel, Status } from '../parts.js';

// useClock returns the node's time in ms: the time of its last answer plus the time since then.
function useClock(stamp) {
  const [, tick] = useState(0);
  const base = useRef({});
  useEffect(() => {
    const t = setInterval(() => tick((n) => n + 1), 500);
    return () => clearInterval(t);
  }, []);
  if (base.current.stamp !== stamp) base.current = { stamp, ahead: Date.parse(stamp) - Date.now() };
  return Date.now() + base.current.ahead;
}

// stageOf describes the stage that the node reports for a drain. now is the node's time in ms.
function stageOf(b, now) {
  const left = () => span(Math.max(0, Date.parse(b.drain.safe_at) - now) / 1000);
  switch (b.drain.stage) {
    case 'draining':
      return { word: 'draining', rest: b.drain.safe_at ? `safe to stop in ${left()}` : '', tone: 'warn' };
    case 'reduced':
      return { word: `keeps ${percent(b.drain.share, 0)} of its weight`, tone: 'warn' };
    case 'answered':
      return {
        word: 'still answered',
        rest: 'no other backend of this name can serve those clients: not safe to stop',
        tone: 'bad',
      };
    case 'cached':
      return {
        word: 'in no answer',
        rest: `cached answers expire; safe to stop in ${left()}`,
        tone: 'warn',
      };
    case 'safe':
      return { word: 'safe to stop', rest: 'it is in no answer, and cached answers have expired', tone: 'good' };
  }
  return { word: b.drain.stage, tone: 'warn' };
}

// Curve draws the share over time. It falls to the share that the drain leaves. The box behind it is the time in which
// resolvers still cache answers with the backend.
function Curve({ b, now }) {
  const from = Date.parse(b.drain.at), ends = Date.parse(b.drain.ends_at);
  const last = Math.max(ends, Date.parse(b.drain.safe_at) || 0);
  const x = (t) => 4 + 212 * Math.min(1, Math.max(0, (t - from) / Math.max(1, last - from)));
  const y = (share) => 44 - 38 * share;
  return html`
    <svg class="curve" viewBox="0 0 220 50" role="img" aria-label=${`${percent(b.share, 0)} of its weight is left`}>
      <rect x=${x(ends)} y="4" width=${x(last) - x(ends)} height="40" class="remembered" />
      <path d=${`M${x(from)} ${y(1)}L${x(ends)} ${y(b.drain.share)}L${x(last)} ${y(b.drain.share)}`} />
      <line x1=${x(now)} x2=${x(now)} y1="2" y2="46" />
      <circle cx=${x(now)} cy=${y(b.share)} r="3.5" />
    </svg>`;
}

export function Drains({ backends, stamp }) {
  const draining = backends.filter((b) => b.drain);
  const now = useClock(stamp);
  if (!draining.length) return null;
  return html`
    <${Panel} title="Drains" id="drains">
      <ul class="plain drains">
        ${draining.map((b) => {
          const stage = stageOf(b, now);
          return html`
            <li key=${b.id}>
              <span class="mono">${endpoint(b.address, b.port)}</span>
              <${Curve} b=${b} now=${now} />
              <span>
                <${Status} tone=${stage.tone} word=${stage.word} /> <span>${stage.rest}</span>
                <br />
                <span class="dim">
                  ${percent(b.share, 0)} of its weight is left, by ${b.drain.by}
                  ${b.drain.reason && `: ${b.drain.reason}`}
                </span>
              </span>
            </li>`;
        })}
      </ul>
    <//>`;
}
