// Drains of a name: how much is left, and when the backend may be stopped.
import { html, useEffect, useRef, useState } from '../dom.js';
import { useLive } from '../api.js';
import { endpoint, percent, span } from '../format.js';
import { Panel, Status } from '../parts.js';

// useClock returns the node's time in ms: the time of its newest answer, and the time that has passed since.
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

// stageOf describes how far a drain is. answered holds where the node still answers with the address of the backend.
export function stageOf(b, ttl, answered, now) {
  const ends = Date.parse(b.drain.ends_at);
  const forgotten = ends + 1000 * ttl;
  if (b.drain.share > 0) return { word: `keeps ${percent(b.drain.share, 0)} of its weight`, tone: 'warn' };
  if (now < ends) return { word: 'draining', rest: `safe to stop in ${span((forgotten - now) / 1000)}`, tone: 'warn' };
  if (answered) return {
    word: 'still answered',
    rest: 'nothing else of this name may serve those clients: not safe to stop',
    tone: 'bad',
  };
  if (now < forgotten) return {
    word: 'answered to nobody',
    rest: `resolvers forget it; safe to stop in ${span((forgotten - now) / 1000)}`,
    tone: 'warn',
  };
  return { word: 'safe to stop', rest: 'no answer has it any more, and none is remembered', tone: 'good' };
}

// Curve draws the share over time. It falls to the share that the drain leaves. The box behind it is the time in which
// resolvers still remember the backend.
function Curve({ b, ttl, now }) {
  const from = Date.parse(b.drain.at), ends = Date.parse(b.drain.ends_at), last = ends + 1000 * ttl;
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

export function Drains({ domain, backends, stamp }) {
  const draining = backends.filter((b) => b.drain);
  const kinds = [...new Set(draining.map((b) => (b.address.includes(':') ? 'AAAA' : 'A')))];
  const now = useClock(stamp);
  const lists = ['A', 'AAAA'].map((kind) => useLive(kinds.includes(kind)
    ? `/v1/routing/answers?domain=${encodeURIComponent(domain.name)}&query_type=${kind}`
    : ''));
  const answered = new Set(lists
    .flatMap((live) => live.data?.answers || [])
    .flatMap((a) => a.addresses.map((s) => s.address)));
  if (!draining.length) return null;
  return html`
    <${Panel} title="Drains" id="drains">
      <ul class="plain drains">
        ${draining.map((b) => {
          const stage = stageOf(b, domain.ttl, answered.has(b.address), now);
          return html`
            <li key=${b.id}>
              <span class="mono">${endpoint(b.address, b.port)}</span>
              <${Curve} b=${b} ttl=${domain.ttl} now=${now} />
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
