// A small line chart for a cell of a table.
import { html } from './dom.js';

const width = 120, height = 24; // px

// Spark draws values over time, oldest first. label describes the values for screen readers.
export function Spark({ values, label }) {
  const most = Math.max(...values, 0);
  const x = (i) => (width * i / Math.max(1, values.length - 1)).toFixed(1);
  const y = (v) => (height - 2 - (height - 4) * (most ? v / most : 0)).toFixed(1);
  const line = values.map((v, i) => `${x(i)} ${y(v)}`).join('L');
  return html`
    <svg class="spark" viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${label}>
      <path class="area" d=${`M0 ${height}L${line}L${width} ${height}Z`} />
      <path d=${`M${line}`} />
    </svg>`;
}
