// Decision: the answers of a domain as a picture, with lines from the clients of each region to the backends. The order
// of the backends is the order of the regions of the domain.
import { html } from '../dom.js';
import { endpoint, percent } from '../format.js';
import { marks } from '../parts.js';

const most = 20; // rows; the picture of a larger domain is not readable
const width = 900, row = 36; // of the drawing
const left = 170, right = 430; // the ends of the lines

// placeOf returns the height of a row of a column, so that the rows of both columns fill the height.
const placeOf = (i, count, height) => (i + 0.5) * height / count;

function toneOf(b) {
  if (!b.may_serve) return b.draining && b.effective_status === 'healthy' ? 'plain' : 'bad';
  return b.draining || b.share < 1 ? 'warn' : 'good';
}

// stateOf describes the part of a backend in the decision. Only failover uses the order of the regions.
function stateOf(b, { regions, routing_policy: policy }) {
  const weight = `weight ${b.weight_override?.weight ?? b.weight}${b.share < 1 ? ` × ${percent(b.share, 0)}` : ''}`;
  const at = policy === 'failover' ? regions.indexOf(b.region) : -1;
  const place = at < 0 ? '' : `, region ${at + 1} of ${regions.length}`;
  return b.may_serve ? `${weight}${place}` : `does not serve: ${b.reason}`;
}

// Decision draws answers for clients, as lines whose width is the share. nameOf(answer) is the name of its clients.
export function Decision({ answers, backends, domain, nameOf }) {
  const rank = (b) => (domain.regions.includes(b.region) ? domain.regions.indexOf(b.region) : domain.regions.length);
  const list = [...backends].sort((a, b) => rank(a) - rank(b));
  const rows = Math.max(list.length, answers.length);
  if (!list.length || !answers.length || rows > most) return null;
  const height = rows * row;
  const from = (i) => placeOf(i, answers.length, height);
  const to = (i) => placeOf(i, list.length, height);
  const lines = answers.flatMap((a, i) => a.addresses.map((s) => ({
    i,
    share: s.share,
    k: list.findIndex((b) => b.may_serve && (b.address === s.address || b.target === s.address)),
  }))).filter((l) => l.k >= 0);
  const middle = (left + right) / 2;
  const text = `${domain.routing_policy}: ${answers.map((a) =>
    `${nameOf(a)} to ${a.addresses.map((s) => `${s.address} ${percent(s.share, 0)}`).join(', ') || 'no backend'}`)
    .join('; ')}`;
  return html`
    <div class="decision" tabindex="0" role="region" aria-label="Decision">
      <svg viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${text}>
        ${lines.map((l) => html`
          <path
            key=${`${l.i} ${l.k}`}
            class="flow"
            style=${{ strokeWidth: 1 + 9 * l.share }}
            d=${`M${left} ${from(l.i)}C${middle} ${from(l.i)} ${middle} ${to(l.k)} ${right} ${to(l.k)}`}
          />`)}
        ${answers.map((a, i) => html`
          <text key=${nameOf(a)} class="end" x=${left - 10} y=${from(i) + 5}>${nameOf(a)}</text>`)}
        ${list.map((b, k) => html`
          <text key=${b.id} class=${toneOf(b)} x=${right + 8} y=${to(k) + 5}>
            <tspan class="mark">${marks[toneOf(b)]}</tspan> ${endpoint(b.address, b.port)}
            ${' '}${b.region} <tspan class="dim">${stateOf(b, domain)}</tspan>
          </text>`)}
      </svg>
    </div>`;
}
