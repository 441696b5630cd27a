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

// utc writes a time in UTC with the difference of the browser's time zone, for texts on hover.
export function utc(moment) {
  const zone = -new Date(moment).getTimezoneOffset();
  const minutes = Math.abs(zone);
  const text = `${zone < 0 ? '-' : '+'}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
  return `${moment.slice(0, 19).replace('T', ' ')} UTC${zone ? ` (local time is UTC${text})` : ''}`;
}

// local writes the time of the day in the browser's time zone.
export const local = (moment) => new Date(moment).toTimeString().slice(0, 8);

export const percent = (part, digits = 1) => `${(100 * part).toFixed(digits)}%`;

export function number(n) {
  if (n === null || n === undefined) return none;
  if (n >= 100 || Number.isInteger(n)) return Math.round(n).toLocaleString('en');
  return n.toFixed(n >= 10 ? 1 : 2);
}

// millis writes a duration in ms, a short one in microseconds.
export const millis = (ms) => (ms > 0 && ms < 1 ? `${number(Math.round(1e5 * ms) / 100)} µs` : `${number(ms)} ms`);

export function bytes(n) {
  if (!n) return none;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const i = Math.min(units.length - 1, Math.floor(Math.log2(n) / 10));
  return `${(n / 1024 ** i).toFixed(i ? 1 : 0)} ${units[i]}`;
}

// aboutName matches the kinds of conditions and events with a subject that begins with the name of a domain.
export const aboutName = /^(name_|name$|backend|agents_held|brake|override|weight|drain|region_empty|failback)/;
const views = [
  [/^(agent|certificate|token|region_unknown|refused)/, 'agents'],
  [/^(sign|key)/, 'dnssec'],
  [/^(change|not_replicated|replication)/, 'audit'],
  [/^region/, 'map'],
  [/^no_name/, 'names'],
  [/^node/, 'overview'],
];

// viewOf returns the address of the view that shows more of a condition or an event, or undefined.
export function viewOf({ kind, subject }) {
  if (aboutName.test(kind) && subject) return '#/names/' + encodeURIComponent(subject.split(/[ :]/)[0]);
  const found = views.find(([kinds]) => kinds.test(kind));
  return found && '#/' + found[1];
}

export const endpoint = (address, port) => (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`);

// decisionWord writes the reason of an answer.
const decisionWords = { no_healthy_backend: 'no answer', no_data: 'no data' };
export const decisionWord = (decision) => decisionWords[decision] || decision;

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
  'no data': 'warn',
  dead: 'bad',
  revoked: 'bad',
  'no answer': 'bad',
  no: 'bad',
  refused: 'warn',
  'nobody answers': 'bad',
};

export const toneOf = (word) => tones[word] || 'plain';
