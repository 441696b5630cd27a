// Lines over time.
import { html, useEffect, useRef } from './dom.js';

const height = 150; // px

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function draw(element, lines, points, format) {
  const axis = {
    stroke: colour('--dim'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  };
  return new window.uPlot({
    width: element.clientWidth,
    height,
    cursor: { y: false },
    legend: { show: false },
    scales: { y: { range: (_, __, high) => [0, Math.max(high * 1.15, 1)] } },
    axes: [
      {
        ...axis,
        space: 70,
        values: (_, ticks) => ticks.map((t) => new Date(t * 1000).toISOString().slice(11, 16)),
      },
      { ...axis, size: 55, values: (_, ticks) => ticks.map(format) },
    ],
    series: [
      {}, // the time
      ...lines.map((line) => ({
        stroke: colour(line.colour),
        width: 1.5,
        points: { show: points.length < 3 },
        fill: line.fill && colour(line.colour) + '22',
      })),
    ],
  }, dataOf(lines, points), element);
}

const apart = 90; // s; a running node has a point per minute

// dataOf lists the times of the points, followed by the values of each line. It adds a time without values where points
// are missing, so that no line crosses the gap.
export function dataOf(lines, points) {
  const data = [[], ...lines.map(() => [])];
  const add = (time, values) => {
    data[0].push(time);
    lines.forEach((line, i) => data[i + 1].push(values[line.of] ?? null));
  };
  for (const p of points) {
    const time = Date.parse(p.timestamp) / 1000, before = data[0].at(-1);
    if (time - before > apart) add((before + time) / 2, {});
    add(time, p.values);
  }
  return data;
}

// Chart draws lines over time. A line is { label, of, colour, fill }: of names a metric of the points, and colour a
// variable of the style. With fill, the area under the line is colored.
export function Chart({ name, lines, points, format }) {
  const place = useRef(null);
  const plot = useRef(null);
  useEffect(() => {
    if (!points.length) return undefined;
    const make = () => {
      plot.current?.destroy();
      plot.current = draw(place.current, lines, points, format);
    };
    make();
    const theme = new MutationObserver(make);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const size = new ResizeObserver(() => plot.current?.setSize({ width: place.current.clientWidth, height }));
    size.observe(place.current);
    return () => {
      theme.disconnect();
      size.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [points.length > 0]);
  useEffect(() => {
    if (points.length) plot.current?.setData(dataOf(lines, points));
  }, [points]);
  const newest = points[points.length - 1]?.values || {};
  const now = lines.map((line) => ({
    ...line,
    value: newest[line.of] === undefined ? 'not measured' : format(newest[line.of]),
  }));
  return html`
    <figure class="chart">
      <figcaption>
        <span>${name}</span>
        ${points.length > 0 && now.map((line) => html`
          <span class="legend">
            <svg aria-hidden="true" width="14" height="4">
              <rect width="14" height="4" style=${{ fill: `var(${line.colour})` }} />
            </svg>
            ${line.label} <strong class="num">${line.value}</strong>
          </span>`)}
      </figcaption>
      ${points.length
        ? html`
          <div
            ref=${place}
            role="img"
            aria-label=${`${name}, now ${now.map((line) => `${line.label} ${line.value}`).join(', ')}`}
          ></div>`
        : html`<p class="dim">The first point comes after a minute.</p>`}
    </figure>`;
}
