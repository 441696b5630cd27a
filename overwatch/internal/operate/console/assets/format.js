// Words and numbers as gslbctl writes them.

export const none = '-';

export function count(n, one, many) { return `${n} ${n === 1 ? one : many}`; }

// span writes a duration in seconds with its two largest units.
export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${s % 60 ? ` ${s % 60}s` : ''}`;
  if (s < 86400) return `${Math.floor(s / 3600)}h${s % 3600 >= 60 ? ` ${Math.floor(s % 3600 / 60)}m` : ''}`;
  return `${Math.floor(s / 86400)}d${s % 86400 >= 3600 ? ` ${Math.floor(s % 86400 / 3600)}h` : ''}`;
}

// since formats the time that has passed since a time, such as '2m ago'. now is the time of the node's answer, by
// default the time of the browser.
export function since(moment, now) {
  if (!moment) return none;
  const s = ((now ? Date.parse(now) : Date.now()) - Date.parse(moment)) / 1000;
  return s < 0 ? `in ${span(-s)}` : `${span(s)} ago`;
}

export function clock(moment) {
  if (!moment) return none;
  return moment.slice(0, 19).replace('T', ' ') + 'Z';
}

export const percent = (part, digits = 1) => `${(100 * part).toFixed(digits)}%`;

export function number(n) {
  if (n === null || n === undefined) return none;
  if (n >= 100 || Number.isInteger(n)) return Math.round(n).toLocaleString('en');
  return n.toFixed(n >= 10 ? 1 : 2);
}

export function bytes(n) {
  if (!n) return none;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const i = Math.min(units.length - 1, Math.floor(Math.log2(n) / 10));
  return `${(n / 1024 ** i).toFixed(i ? 1 : 0)} ${units[i]}`;
}

const aboutName = /^(name|backend|agents_held|brake|override|weight|drain|region_empty|failback)/;
const views = [
  [/^(agent|certificate|token|region_unknown|refused)/, 'agents'],
  [/^(sign|key)/, 'signing'],
  [/^(change|not_replicated|replication)/, 'changes'],
];

// viewOf returns the address of the view that shows more of a condition or an event, or undefined.
export function viewOf({ kind, subject }) {
  if (aboutName.test(kind) && subject) return '#/names/' + encodeURIComponent(subject.split(/[ :]/)[0]);
  const found = views.find(([kinds]) => kinds.test(kind));
  return found && '#/' + found[1];
}

export const endpoint = (address, port) => (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`);

const tones = {
  healthy: 'good',
  online: 'good',
  success: 'good',
  alive: 'good',
  active: 'good',
  valid: 'good',
  yes: 'good',
  attention: 'warn',
  degraded: 'warn',
  stale: 'warn',
  draining: 'warn',
  failover: 'warn',
  fallback: 'warn',
  pending: 'warn',
  suspect: 'warn',
  published: 'warn',
  incoming: 'warn',
  retiring: 'warn',
  'last resort': 'warn',
  'self-isolation': 'warn',
  override: 'warn',
  held: 'warn',
  unhealthy: 'bad',
  offline: 'bad',
  failure: 'bad',
  no_healthy_backend: 'bad',
  no_data: 'warn',
  dead: 'bad',
  revoked: 'bad',
  'no answer': 'bad',
  no: 'bad',
  refused: 'warn',
  'nobody answers': 'bad',
};

export const toneOf = (word) => tones[word] || 'plain';
