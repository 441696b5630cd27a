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

// lastAnswered has the time of the newest answer that is known to have had a backend, in ms by the node's clock, by the
// id of the backend. It outlives the view, as resolvers remember the answer whether somebody looks or not.
const lastAnswered = new Map();

// forgottenAt returns the time in ms at which resolvers have forgotten a backend that is drained. Its last answer may
// have been after the end of the drain, where nothing else could serve.
const forgottenAt = (b, ttl) => Math.max(Date.parse(b.drain.ends_at), lastAnswered.get(b.id) || 0) + 1000 * ttl;

// stageOf describes how far a drain is. answered tells whether the node still answers with the backend; undefined, that
// this is not known.
function stageOf(b, ttl, answered, now) {
  const forgotten = forgottenAt(b, ttl);
  if (b.drain.share > 0) return { word: `keeps ${percent(b.drain.share, 0)} of its weight`, tone: 'warn' };
  if (now < Date.parse(b.drain.ends_at)) return {
    word: 'draining',
    rest: `safe to stop in ${span((forgotten - now) / 1000)}`,
    tone: 'warn',
  };
  if (answered === undefined) return { word: 'asking', rest: 'whether the node still answers with it', tone: 'warn' };
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
  const from = Date.parse(b.drain.at), ends = Date.parse(b.drain.ends_at), last = forgottenAt(b, ttl);
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

// useAnswered returns a function that tells whether a domain is answered with a backend now: with its address, or with
// the name of its target. Of a domain that is off nothing is. The function returns undefined as long as that is not
// known, or not known any more.
function useAnswered(domain, asked) {
  const lists = ['A', 'AAAA'].map((kind) => useLive(asked && domain.enabled
    ? `/v1/routing/answers?domain=${encodeURIComponent(domain.name)}&query_type=${kind}`
    : ''));
  const known = !domain.enabled || lists.every((live) => live.data && !live.error);
  const given = new Set(lists
    .flatMap((live) => live.data?.answers || [])
    .flatMap((a) => a.addresses.map((s) => s.address)));
  return (b) => (given.has(b.address) || given.has(b.target) || (known ? false : undefined));
}

export function Drains({ domain, backends, stamp }) {
  const draining = backends.filter((b) => b.drain);
  const now = useClock(stamp);
  const answered = useAnswered(domain, draining.length > 0);
  if (!draining.length) return null;
  draining.filter(answered).forEach((b) => lastAnswered.set(b.id, now));
  return html`
    <${Panel} title="Drains" id="drains">
      <ul class="plain drains">
        ${draining.map((b) => {
          const stage = stageOf(b, domain.ttl, answered(b), now);
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
