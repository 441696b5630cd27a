// Map: the regions at their locations, the flows of answers between regions, and the backends of a selected region.
import { html, useEffect, useMemo, useRef, useState } from '../dom.js';
import { useList } from '../api.js';
import { number, percent } from '../format.js';
import { Cut, go, Panel, Status, useMinute, Waiting } from '../parts.js';
import { Table } from '../table.js';
import { DrainRegion } from './drainregion.js';

export const width = 1000, height = 440; // of the drawing; degrees have equal distances
const x = (longitude) => (longitude + 180) * width / 360;
const y = (latitude) => (84 - latitude) * height / 144; // without the ice in the south
const hour = 3600e3;

// placeAt returns the place under a click. It is the inverse of x and y.
export function placeAt(event) {
  const box = event.currentTarget.getBoundingClientRect();
  const degrees = (part, from, span) => Math.round((from + part * span) * 10) / 10;
  return {
    latitude: degrees((event.clientY - box.top) / box.height, 84, -144),
    longitude: degrees((event.clientX - box.left) / box.width, -180, 360),
  };
}

// outline returns one path of all the land in a TopoJSON file. A ring of the land is a list of the numbers of its arcs.
// A negative number i means arc ~i, from its end to its start. The points of an arc are whole numbers, each the
// difference to the point before. A ring over the edge of the map is drawn at both edges.
function outline({ objects, arcs, transform: { scale, translate } }) {
  const lines = arcs.map((arc) => {
    let across = 0, up = 0;
    return arc.map(([dx, dy]) => [
      x((across += dx) * scale[0] + translate[0]),
      y((up += dy) * scale[1] + translate[1]),
    ]);
  });
  const ring = (list) => {
    let shift = 0, before = NaN;
    const points = list.flatMap((i) => (i < 0 ? lines[~i].toReversed() : lines[i])).map(([at, down]) => {
      if (Math.abs(at - before) > width / 2) shift += at < before ? width : -width;
      before = at;
      return [at + shift, down];
    });
    const drawn = (by) => `M${points.map(([at, down]) => `${(at + by).toFixed(1)} ${down.toFixed(1)}`).join('L')}Z`;
    return drawn(0) +
      (points.some(([at]) => at > width) ? drawn(-width) : '') +
      (points.some(([at]) => at < 0) ? drawn(width) : '');
  };
  return objects.land.geometries.flatMap((g) => g.arcs).flat().map(ring).join('');
}

export function Land() {
  const [path, setPath] = useState('');
  useEffect(() => {
    fetch('/console/vendor/land.json')
      .then((r) => r.json())
      .then((land) => setPath(outline(land)), () => {});
  }, []);
  return html`<path class="land" d=${path} />`;
}

const placed = (region) => region && (region.latitude !== 0 || region.longitude !== 0);
const toneOf = (r) => (!r.server_count
  ? 'plain'
  : !r.serving_servers
    ? 'bad'
    : r.serving_servers < r.server_count ? 'warn' : 'good');
const servingOf = (r) => `${r.serving_servers} of ${r.server_count} backends serve`;

const closest = 8; // the largest zoom

// useZoom returns the visible part of the drawing, a function that changes its zoom, and the handlers of the drawing:
// drag moves the part, and the wheel zooms with the key Ctrl, as in other maps. zoom is 1 for the whole drawing.
function useZoom() {
  const [view, setView] = useState({ zoom: 1, x: width / 2, y: height / 2 });
  const drag = useRef(null);
  const set = ({ zoom, x: cx, y: cy }) => {
    const z = Math.min(closest, Math.max(1, zoom));
    const within = (value, size) => Math.min(size - size / 2 / z, Math.max(size / 2 / z, value));
    setView({ zoom: z, x: within(cx, width), y: within(cy, height) });
  };
  const by = (factor) => set({ ...view, zoom: view.zoom * factor });
  const handlers = {
    onWheel: (e) => {
      if (!e.ctrlKey) return;
      e.preventDefault();
      by(e.deltaY < 0 ? 1.25 : 0.8);
    },
    onPointerDown: (e) => { drag.current = { at: [e.clientX, e.clientY], from: view }; },
    onPointerMove: (e) => {
      if (!drag.current || !e.buttons) return;
      const { at, from } = drag.current;
      const unit = width / from.zoom / e.currentTarget.getBoundingClientRect().width;
      set({ ...from, x: from.x - (e.clientX - at[0]) * unit, y: from.y - (e.clientY - at[1]) * unit });
    },
    onPointerUp: () => { drag.current = null; },
  };
  const [w, h] = [width / view.zoom, height / view.zoom];
  const box = [view.x - w / 2, view.y - h / 2, w, h];
  return { zoom: view.zoom, box: box.map((v) => v.toFixed(1)).join(' '), by, handlers };
}

function Flow({ flow, from, to, zoom, choose }) {
  if (!placed(from) || !placed(to) || from === to) return null;
  const [x1, y1, x2, y2] = [x(from.longitude), y(from.latitude), x(to.longitude), y(to.latitude)];
  const bend = Math.min(60, Math.hypot(x2 - x1, y2 - y1) / 4);
  return html`
    <path
      class="flow"
      onClick=${() => choose(flow.source_region)}
      style=${{ strokeWidth: (1 + 9 * flow.share) / zoom }}
      d=${`M${x1} ${y1}Q${(x1 + x2) / 2} ${(y1 + y2) / 2 - bend} ${x2} ${y2}`}
    />`;
}

function Region({ region, chosen, choose, served, zoom }) {
  const [cx, cy] = [x(region.longitude), y(region.latitude)];
  const text = `${region.name} ${region.serving_servers}/${region.server_count}`;
  const press = (e) => {
    if (e.key === 'Enter' || e.key === ' ') {
      e.preventDefault();
      choose(region.id);
    }
  };
  return html`
    <g
      class=${'region ' + toneOf(region)}
      role="button"
      tabindex="0"
      aria-label=${`${text} backends serve`}
      aria-pressed=${chosen}
      onClick=${() => choose(region.id)}
      onKeyDown=${press}
    >
      <circle cx=${cx} cy=${cy} r=${(7 + 13 * Math.sqrt(served)) / zoom} class=${chosen ? 'chosen' : ''} />
      <text x=${cx} y=${cy - (12 + 13 * Math.sqrt(served)) / zoom}>${text}</text>
    </g>`;
}

const flowColumns = [
  { title: 'Clients in', csv: (f) => f.source_region || 'no region' },
  {
    title: 'Sent to',
    csv: (f) => f.destination_region || 'nobody',
    cell: (f) => (f.destination_region && f.source_region && f.destination_region !== f.source_region
      ? html`<${Status} tone="warn" word=${f.destination_region} />`
      : f.destination_region || 'nobody'),
  },
  { title: 'Answers', csv: (f) => f.request_count, cell: (f) => number(f.request_count), class: 'num' },
  { title: 'Share', csv: (f) => f.share, cell: (f) => percent(f.share), class: 'num' },
];

const shownNames = 1000;

const shownReasons = 3;

// Reasons shows why backends of a name do not serve, each reason once.
function Reasons({ backends }) {
  const down = backends.filter((b) => !b.may_serve);
  const reasons = [...new Set(down.map((b) => (b.drain ? 'drained' : b.reason)))];
  return reasons.slice(0, shownReasons).map((reason) => html`<span class="note" key=${reason}>${reason}</span>`);
}

// Elsewhere lists the names whose answers send clients of a region to another region.
function Elsewhere({ list, from, to }) {
  const names = list.filter((f) => f.source_region === from && f.destination_region === to).map((f) => f.domain);
  return html`
    <span class="note">
      by ${names.slice(0, shownReasons).map((name, i) => html`
        ${i > 0 && ', '}<a key=${name} href=${'#/names/' + encodeURIComponent(name)}>${name}</a>`)}
      ${names.length > shownReasons && ` and ${number(names.length - shownReasons)} more names`}
    </span>`;
}

// Chosen shows a region: the regions of the backends for its clients with the names that send them there, and its
// backends by name with the reasons of those that do not serve. byName has the flows of single names.
function Chosen({ region, flows, byName }) {
  const list = useList(`/v1/overwatch/backends?region=${encodeURIComponent(region.id)}`, 'backends').data;
  const names = [...Map.groupBy(list?.backends || [], (b) => b.service)];
  const going = flows.filter((f) => f.source_region === region.id);
  return html`
    <${Panel} title=${region.name} id="chosen" aside=${html`<${DrainRegion} region=${region} list=${list} />`}>
      <p>
        <${Status}
          tone=${toneOf(region)}
          word=${servingOf(region)}
        />
        ${region.countries.length > 0 && html` <span class="dim">clients of ${region.countries.join(', ')}</span>`}
        ${(region.tags || []).map((t) => html` <span class="tag">${t}</span>`)}
      </p>
      <div class="gets">
        <div class="card">
          <h3>Its clients are sent to</h3>
          <ul class="plain">
            ${going.map((f) => html`
              <li key=${f.destination_region}>
                <span>${f.destination_region || 'nobody'}</span>
                <span>
                  <span class="num">${percent(f.part)}</span>
                  ${f.destination_region !== region.id && html`
                    <${Elsewhere} list=${byName} from=${region.id} to=${f.destination_region} />`}
                </span>
              </li>`)}
          </ul>
          ${!going.length && html`<p class="dim">None asked.</p>`}
        </div>
        <div class="card">
          <h3>Its backends</h3>
          <ul class="plain">
            ${names.slice(0, shownNames).map(([name, own]) => html`
              <li key=${name}>
                <a href=${'#/names/' + encodeURIComponent(name)}>${name}</a>
                <span>
                  <${Status}
                    tone=${own.every((b) => b.may_serve) ? 'good' : own.some((b) => b.may_serve) ? 'warn' : 'bad'}
                    word=${`${own.filter((b) => b.may_serve).length} of ${own.length} serve`}
                  />
                  <${Reasons} backends=${own} />
                </span>
              </li>`)}
          </ul>
          ${names.length > shownNames && html`<p class="dim">and ${number(names.length - shownNames)} more names</p>`}
          <${Cut}
            has=${list?.backends.length}
            total=${list?.total}
            command=${`gslbctl backends list --region ${region.id}`}
          />
        </div>
      </div>
    <//>`;
}

// summed adds up the flows of all names between the same regions, and returns the largest first. The share of a flow is
// relative to all answers; its part is relative to the answers to clients in the same region.
function summed(list) {
  const by = new Map();
  const from = {};
  let all = 0;
  for (const f of list) {
    const key = f.source_region + '\n' + f.destination_region;
    const sum = by.get(key) || {
      source_region: f.source_region,
      destination_region: f.destination_region,
      request_count: 0,
    };
    sum.request_count += f.request_count;
    by.set(key, sum);
    from[f.source_region] = (from[f.source_region] || 0) + f.request_count;
    all += f.request_count;
  }
  return [...by.values()]
    .map((f) => ({ ...f, share: f.request_count / all, part: f.request_count / from[f.source_region] }))
    .sort((a, b) => b.request_count - a.request_count);
}

// WorldMap is the view of the map. The selected region is in its address.
export function WorldMap({ path: [chosen = ''] }) {
  const regions = useList('/v1/regions', 'regions');
  const since = new Date(useMinute() - hour).toISOString().slice(0, 19) + 'Z';
  const live = useList(`/v1/routing/flows?start_time=${since}`, 'flows', { lasting: true });
  const flows = useMemo(() => summed(live.data?.flows || []), [live.data]);
  const choose = (region) => go('map', region);
  const list = regions.data?.regions || [];
  const of = (id) => list.find((r) => r.id === id);
  const served = (id) => flows.filter((f) => f.destination_region === id).reduce((sum, f) => sum + f.share, 0);
  const nowhere = list.filter((r) => !placed(r));
  const { zoom, box, by, handlers } = useZoom();
  return html`
    <h1>Map</h1>
    <${Waiting} live=${regions} />
    <figure class="map">
      <div class="zoom" role="group" aria-label="Zoom of the map">
        <button type="button" class="small" aria-label="Zoom in" disabled=${zoom >= closest} onClick=${() => by(2)}>
          +
        </button>
        <button type="button" class="small" aria-label="Zoom out" disabled=${zoom <= 1} onClick=${() => by(0.5)}>
          −
        </button>
      </div>
      <svg
        viewBox=${box}
        role="group"
        aria-label="Map of the regions"
        style=${{ '--zoom': zoom }}
        class=${zoom > 1 ? 'near' : undefined}
        ...${handlers}
      >
        <${Land} />
        ${flows.map((f) => html`
          <${Flow}
            key=${f.source_region + '>' + f.destination_region}
            flow=${f}
            zoom=${zoom}
            choose=${choose}
            from=${of(f.source_region)}
            to=${of(f.destination_region)}
          />`)}
        ${list.filter(placed).map((r) => html`
          <${Region}
            key=${r.id}
            region=${r}
            chosen=${r.id === chosen}
            choose=${choose}
            zoom=${zoom}
            served=${served(r.id)}
          />`)}
      </svg>
      <figcaption>
        <span>
          A region is as large as its part of the answers. Lines lead from clients to another region that answers them.
          Select a region or a line for the reasons. Drag moves the map, Ctrl and the wheel zoom. Outlines: Natural
          Earth.
        </span>
      </figcaption>
    </figure>
    ${nowhere.length > 0 && html`
      <p class="dim">
        Without a place on the map: ${nowhere.map((r) => r.name).join(', ')}. Give
        them <code>latitude</code> and <code>longitude</code>.
      </p>`}
    ${of(chosen) && html`
      <${Chosen} region=${of(chosen)} flows=${flows} byName=${live.data?.flows || []} />`}
    <${Panel} title="Where answers went in the last hour" id="flows">
      <${Waiting} live=${live} />
      ${live.data && html`
        ${live.data.total > live.data.flows.length && html`
          <p class="dim">by ${number(live.data.flows.length)} of ${number(live.data.total)} flows of single names</p>`}
        <${Table}
          caption="flows"
          rows=${flows}
          columns=${flowColumns}
          keyOf=${(f) => f.source_region + '>' + f.destination_region}
          empty="No load-balanced answer yet."
        />`}
      ${live.data?.uncounted > 0 && html`
        <p class="dim">${number(live.data.uncounted)} answers came faster than they could be counted.</p>`}
    <//>`;
}
