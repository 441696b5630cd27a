// Settings: the current values, each with its source.
import { html } from '../dom.js';
import { request, useLive } from '../api.js';
import { clock, none } from '../format.js';
import { Edit } from '../form.js';
import { Panel, Status, Waiting } from '../parts.js';
import { Table } from '../table.js';
import { Notifications } from './notifications.js';

const written = (value) => (value === null || value === ''
  ? none
  : Array.isArray(value) ? value.join(', ') || none : String(value));

const columns = [
  { title: 'Setting', csv: (r) => r.name, class: 'mono' },
  { title: 'Value', csv: (r) => r.value, class: 'why mono' },
  {
    title: 'From',
    csv: (r) => r.from,
    cell: (r) => (r.from === 'the API' ? html`<${Status} tone="warn" word="the API" />` : r.from),
  },
  {
    title: 'Waits',
    csv: (r) => (r.waits ? 'for a restart' : ''),
    cell: (r) => r.waits && html`<${Status} tone="warn" word="for a restart" />`,
  },
];

function Section({ title, path, schema }) {
  const live = useLive(path, { pause: 5000 });
  const { config, overlay = [], restart_required: restart = [] } = live.data || {};
  const named = (list, name) => list.some((key) => key === name || key.endsWith('.' + name));
  const rows = Object.entries(config || {}).map(([name, value]) => ({
    name,
    value: written(value),
    waits: named(restart, name),
    from: named(overlay, name) ? 'the API' : 'the file, or its default',
  }));
  const id = `section-${path.split('/').slice(-2).join('-')}`;
  const edit = html`
    <${Edit}
      title=${title}
      schema=${schema}
      object=${config}
      save=${(patch) => request(path, { method: 'PATCH', body: patch })}
    />`;
  return html`<${Panel} title=${title} id=${id} aside=${edit}>
    <${Waiting} live=${live} />
    ${config && html`<${Table} caption=${title} rows=${rows} columns=${columns} keyOf=${(r) => r.name} />`}
  <//>`;
}

function System() {
  const live = useLive('/v1/config/system', { pause: 5000 });
  const c = live.data?.config;
  const rows = c && [
    ['node', c.node_id],
    ['region', c.region],
    ['version', c.version],
    [
      'built from',
      `${c.build_info.git_commit} at ${c.build_info.build_date}, ${c.build_info.go_version}, ${c.build_info.platform}`,
    ],
    ['started', clock(c.start_time)],
    ['configuration file', c.config_path],
    ['data directory', c.data_dir],
    ['features', c.features.join(', ')],
  ];
  return html`
    <${Panel} title="This node" id="system">
      <${Waiting} live=${live} />
      ${rows && html`
        <dl class="facts">
          ${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value || none}</dd>`)}
        </dl>`}
    <//>`;
}

export function Settings() {
  return html`
    <h1>Settings</h1>
    <p class="dim">
      Values of the API override the file and survive a restart. <code>gslbctl config reset</code> resets them.
    </p>
    <${System} />
    <${Notifications} />
    <${Section} title="DNS" path="/v1/config/dns" schema="DNSConfigChange" />
    <${Section} title="Checks of this node" path="/v1/config/health-check" schema="HealthCheckConfigChange" />
    <${Section} title="Gossip" path="/v1/gossip/config" schema="GossipConfigChange" />
    <${Section} title="Log" path="/v1/config/logging" schema="LoggingConfigChange" />`;
}
