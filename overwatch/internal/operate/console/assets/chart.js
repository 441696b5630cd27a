// Lines over time.
import { html, useEffect, useRef, useState } from './dom.js';
import { local, utc } from './format.js';

const height = 150; // px
const near = 5; // px between the pointer and a marker
const day = 86400; // s

const iso = (seconds) => new Date(seconds * 1000).toISOString();

// tickOf writes a time at the axis in the browser's time zone: the time of the day, or the date for more than a day.
const tickOf = (seconds, length) => (length > day
  ? new Date(seconds * 1000).toLocaleDateString('en', { month: 'short', day: 'numeric' })
  : local(iso(seconds)).slice(0, 5));

// drawMarkers draws a line at the time of each marker.
function drawMarkers(plot, markers, colour) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const m of markers) {
    const x = Math.round(plot.valToPos(m.at, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

// draw makes a plot. shown.current has the properties of the chart at the time of each drawing. hover receives the
// index of the point under the pointer, or null, and the markers there.
function draw(element, shown, hover) {
  const { lines, points, format } = shown.current;
  const style = getComputedStyle(element);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--dim'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  };
  const range = () => [shown.current.from, shown.current.to];
  return new window.uPlot({
    width: element.clientWidth,
    height,
    cursor: { y: false, drag: { x: false } },
    legend: { show: false },
    scales: {
      ...(shown.current.from !== undefined && { x: { range } }),
      y: { range: (_, __, high) => [0, Math.max(high * 1.15, 1)] },
    },
    axes: [
      {
        ...axis,
        size: 26,
        space: 70,
        values: (plot, ticks) => ticks.map((t) => tickOf(t, plot.scales.x.max - plot.scales.x.min)),
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
    hooks: {
      draw: [(plot) => drawMarkers(plot, shown.current.markers || [], colour('--bad'))],
      setCursor: [(plot) => {
        const { idx, left } = plot.cursor;
        const found = (shown.current.markers || [])
          .filter((m) => left >= 0 && Math.abs(plot.valToPos(m.at, 'x') - left) <= near);
        hover(left >= 0 && idx !== null ? { time: plot.data[0][idx], row: plot.data.map((d) => d[idx]), found } : null);
      }],
    },
  }, dataOf(lines, points, shown.current.step), element);
}

// dataOf lists the times of the points, followed by the values of each line. step is the time between two points of a
// running node, in s. dataOf adds a time without values where points are missing, so that no line crosses the gap.
export function dataOf(lines, points, step = 60) {
  const data = [[], ...lines.map(() => [])];
  const add = (time, values) => {
    data[0].push(time);
    lines.forEach((line, i) => data[i + 1].push(values[line.of] ?? null));
  };
  for (const p of points) {
    const time = Date.parse(p.timestamp) / 1000, before = data[0].at(-1);
    if (time - before > 1.5 * step) add((before + time) / 2, {});
    add(time, p.values);
  }
  return data;
}

// Chart draws lines over time. A line is { label, of, colour, fill }: of names a metric of the points, and colour a
// variable of the style. With fill, the area under the line is colored. from and to are the ends of the time axis, in
// s; markers are { at, text }, with at in s.
export function Chart(props) {
  const { name, lines, points, format, from, to, markers = [] } = props;
  const place = useRef(null);
  const plot = useRef(null);
  const shown = useRef(props);
  shown.current = props;
  const [pointed, setPointed] = useState(null);
  useEffect(() => {
    if (!points.length) return undefined;
    const make = () => {
      plot.current?.destroy();
      plot.current = draw(place.current, shown, setPointed);
    };
    make();
    const theme = new MutationObserver(make);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme', 'data-old'] });
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
    if (points.length) plot.current?.setData(dataOf(lines, points, props.step));
  }, [points.length, points.at(-1)?.timestamp, from, to, markers.length]);
  const newest = points.at(-1)?.values || {};
  const text = (value) => (value === undefined || value === null ? 'not measured' : format(value));
  const now = lines.map((line, i) => ({ ...line, value: text(pointed ? pointed.row[i + 1] : newest[line.of]) }));
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
        ${pointed && html`<span title=${utc(iso(pointed.time))}>at ${local(iso(pointed.time))}</span>`}
      </figcaption>
      ${points.length
        ? html`
          <div
            ref=${place}
            role="img"
            aria-label=${`${name}, now ${now.map((line) => `${line.label} ${line.value}`).join(', ')}`}
          ></div>
          <p class="pointed">${pointed?.found.map((m) => m.text).join('; ')}</p>`
        : html`<p class="dim">The first point comes after a minute.</p>`}
    </figure>`;
}
