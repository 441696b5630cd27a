// The charts of the overview, over a selected time, with the outages as markers.
import { html, useState } from '../dom.js';
import { useLive } from '../api.js';
import { Chart } from '../chart.js';
import { local, millis, number, utc } from '../format.js';
import { Panel, useMinute } from '../parts.js';

// ranges lists the times that the node stores: minutes of a day, and hours of thirty days.
const ranges = [
  { word: '15 m', title: 'Last 15 minutes', minutes: 15, step: '1m' },
  { word: '1 h', title: 'Last hour', minutes: 60, step: '1m' },
  { word: '24 h', title: 'Last 24 hours', minutes: 1440, step: '1m' },
  { word: '7 d', title: 'Last 7 days', minutes: 7 * 1440, step: '1h' },
  { word: '30 d', title: 'Last 30 days', minutes: 30 * 1440, step: '1h' },
];
const minute = 60000; // ms
const stored = 'gslb-range';

// livePoint is the point of the present, from the same state as the tiles: the newest stored point can be a minute old.
function livePoint(stats, overview) {
  if (!stats || !overview) return [];
  return [{
    timestamp: stats.generated_at,
    values: {
      queries_per_sec: overview.queries_per_sec,
      response_p99_ms: overview.response_times.p99_ms,
      healthy_servers: stats.healthy_backends,
      unhealthy_servers: stats.unhealthy_backends,
      stale_servers: stats.stale_backends,
    },
  }];
}

// sinceOf describes the begin of the points if they begin after the begin of the range.
function sinceOf(points, from, step) {
  const first = points[0] && Date.parse(points[0].timestamp);
  return first && first - from > 3 * step && html`
    <span class="dim" title=${utc(points[0].timestamp)}>
      data since ${new Date(first).toDateString() === new Date().toDateString()
        ? local(points[0].timestamp).slice(0, 5)
        : new Date(first).toLocaleDateString('en')}
    </span>`;
}

export function Charts({ stats, overview }) {
  const [word, setWord] = useState(sessionStorage.getItem(stored) || '24 h');
  const range = ranges.find((r) => r.word === word) || ranges[2];
  const end = useMinute();
  const from = end - range.minutes * minute;
  const live = useLive(
    `/v1/metrics/history?duration=${range.minutes}m&resolution=${range.step}`,
    { pause: 20000, lasting: true },
  );
  const start = new Date(from).toISOString().slice(0, 19) + 'Z';
  const events = useLive(`/v1/events?since=${start}&severity=error&limit=200`, { pause: 20000, lasting: true });
  const points = [...(live.data?.data_points || []), ...livePoint(stats, overview)];
  const step = range.step === '1h' ? 60 * minute : minute;
  const markers = (events.data?.events || [])
    .filter((e) => e.phase === 'begins')
    .map((e) => ({ at: Date.parse(e.time) / 1000, text: e.sentence }));
  const choose = (r) => {
    sessionStorage.setItem(stored, r.word);
    setWord(r.word);
  };
  const choice = html`
    ${sinceOf(points, from, step)}
    <span class="choice" role="group" aria-label="Time">
      ${ranges.map((r) => html`
        <button
          type="button"
          class="small"
          key=${r.word}
          aria-pressed=${r === range}
          onClick=${() => choose(r)}
        >${r.word}</button>`)}
    </span>`;
  const shared = { points, markers, from: from / 1000, to: end / 1000, step: step / 1000 };
  return html`
    <${Panel} title=${range.title} id="day" aside=${choice}>
      <div class="charts">
        <${Chart}
          name="Queries"
          ...${shared}
          format=${number}
          lines=${[{ label: 'QPS', of: 'queries_per_sec', colour: '--blue', fill: true }]}
        />
        <${Chart}
          name="Response time"
          ...${shared}
          format=${millis}
          lines=${[{ label: 'p99', of: 'response_p99_ms', colour: '--blue' }]}
        />
        <${Chart}
          name="Backends by status"
          ...${shared}
          format=${(v) => String(Math.round(v))}
          lines=${[
            { label: 'healthy', of: 'healthy_servers', colour: '--good' },
            { label: 'unhealthy', of: 'unhealthy_servers', colour: '--bad' },
            { label: 'stale', of: 'stale_servers', colour: '--warn' },
          ]}
        />
      </div>
    <//>`;
}
