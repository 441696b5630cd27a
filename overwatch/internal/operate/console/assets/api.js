// Requests to the node that serves this page, and the session with it. The token stays in this tab.
import { useEffect, useRef, useState } from './dom.js';

const tokenKey = 'gslb-token';
export const noToken = 'a token is needed';
const pollEvery = 2000; // ms between the end of a request and the next one
const beatEvery = 1000; // ms between two requests that check whether the node answers
const beatPatience = 1500; // ms; beatEvery and beatPatience together are less than 3 s

// insecure is true if a token would be sent to another machine over plain HTTP.
export const insecure = location.protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname);

// session is shared by all views.
export const session = {
  token: sessionStorage.getItem(tokenKey) || '',
  role: '', // the role of this session at the node; empty until its first answer
  refused: '', // the error message of a rejected token
  person: '', // the person of a session of the sign-in
  canSignIn: false, // the node has an OIDC provider
  lastAnswer: 0, // ms, by the clock of the browser
  silentSince: 0, // ms; 0 while the node answers
};

// watchers are called when the session changes.
export const watchers = new Set();

export function useSession() {
  const [, redraw] = useState(0);
  useEffect(() => {
    const changed = () => redraw((n) => n + 1);
    watchers.add(changed);
    return () => watchers.delete(changed);
  }, []);
  return session;
}

const watched = () => [
  session.role, session.refused, session.silentSince, session.token, session.person, session.canSignIn,
];

function update(fields) {
  const before = JSON.stringify(watched());
  Object.assign(session, fields);
  document.documentElement.toggleAttribute('data-old', session.silentSince > 0); // the style shows all values gray
  if (JSON.stringify(watched()) !== before) {
    watchers.forEach((changed) => changed());
  }
}

// signIn stores a token that the node accepts. Otherwise the form stays on the page.
export async function signIn(token) {
  session.token = token;
  try {
    await request('/v1/config/system');
  } catch (error) {
    update({ token: '', refused: error.message });
    return;
  }
  sessionStorage.setItem(tokenKey, token);
  update({ refused: '', person: '' });
}

// readSession requests whether people can sign in, and the person of the session.
export async function readSession() {
  try {
    const { sign_in: canSignIn, person = '' } = await (await fetch('/auth/session')).json();
    update({ canSignIn, person: session.token ? '' : person });
  } catch {
    // watchNode reports a node that does not answer
  }
}

// endSession ends the session of the sign-in.
export async function endSession() {
  const response = await fetch('/auth/sign-out', { method: 'POST' }).catch(() => null);
  if (response?.ok) signOut();
}

export function signOut() {
  sessionStorage.removeItem(tokenKey);
  entries.forEach((entry) => { Object.assign(entry, { data: undefined, error: null }); });
  update({ token: '', role: '', person: '', refused: noToken });
}

export const mayOperate = () => session.role === 'operate' || session.role === 'admin';
export const mayAdmin = () => session.role === 'admin';

export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export function authorized(headers = {}) {
  if (session.token && !insecure) headers.Authorization = 'Bearer ' + session.token;
  return headers;
}

let reads = new AbortController(); // aborts the requests of the views when the node does not answer
let failures = 0; // number of calls of silent

// silent records that the node does not answer, and returns a Refusal.
function silent(message) {
  failures++;
  update({ silentSince: session.silentSince || Date.now() });
  reads.abort();
  return new Refusal(0, message);
}

// answered records an answer of the node. After a silence, the values of the page count as old until each request of
// the page has been repeated.
let recovering = false;
async function answered(role) {
  update({ lastAnswer: Date.now(), ...(role && { role }) });
  if (!session.silentSince || recovering) return;
  recovering = true;
  const before = failures;
  reads = new AbortController();
  await Promise.allSettled([...entries.values()].map(poll));
  recovering = false;
  if (failures === before) update({ silentSince: 0 });
}

// request resolves with the decoded answer, or rejects with a Refusal with the message of the node. The status of the
// Refusal is 0 if the node did not answer. An answer that is not JSON is from a proxy.
export async function request(path, { method = 'GET', body, patience = 15000 } = {}) {
  const headers = authorized(body === undefined ? {} : { 'Content-Type': 'application/json' });
  const token = session.token;
  const timeout = AbortSignal.timeout(patience);
  let response, text;
  try {
    response = await fetch('/api' + path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: method === 'GET' ? AbortSignal.any([timeout, reads.signal]) : timeout,
    });
    text = await response.text();
  } catch (error) {
    if (error.name === 'AbortError') throw new Refusal(0, 'the node does not answer');
    if (error.name === 'TimeoutError') throw new Refusal(0, `the node did not answer within ${patience / 1000} s`);
    throw silent('the node does not answer');
  }
  let answer;
  try {
    answer = response.status === 204 ? null : JSON.parse(text);
  } catch {
    throw silent(`the node does not answer; a proxy answered ${response.status} ${response.statusText}`.trim());
  }
  answered(response.headers.get('X-Api-Role'));
  if (response.ok || response.status === 503 && answer && !answer.error) return answer;
  const refusal = new Refusal(response.status, answer?.error || response.statusText);
  if (response.status === 401 && token === session.token) {
    update({ refused: session.token ? refusal.message : noToken, role: '' });
  }
  throw refusal;
}

// watchNode checks each second whether the node answers, while the page is visible. Any answer within the time of the
// check counts.
export async function watchNode() {
  for (;;) {
    if (!document.hidden && !session.refused) {
      const began = Date.now();
      try {
        if (session.silentSince) reads = new AbortController();
        await request('/v1/live', { patience: beatPatience });
      } catch {
        if (session.lastAnswer < began) silent('the node does not answer');
      }
    }
    await new Promise((resolve) => setTimeout(resolve, beatEvery));
  }
}

// every requests all pages of a list, and returns the first answer with the entries of all pages in its field.
export async function every(path, field, most = 20000) {
  const pageOf = (offset) => request(path + (path.includes('?') ? '&' : '?') + `limit=1000&offset=${offset}`);
  const list = await pageOf(0);
  while (list[field].length < Math.min(list.total, most)) {
    const next = (await pageOf(list[field].length))[field];
    if (!next.length) break;
    list[field].push(...next);
  }
  return list;
}

// entries has an entry for each path of the visible views. Views with the same path share its requests, which repeat
// while the page is visible.
const entries = new Map();

function entryOf(key, load, pause) {
  let entry = entries.get(key);
  if (!entry) entries.set(key, entry = {
    load,
    pause,
    data: undefined,
    at: 0, // ms; the time of data
    error: null,
    failedAt: 0, // ms
    told: 0, // number of Waiting components that show the error
    views: new Set(),
    timer: 0,
    busy: false,
  });
  entry.load = load;
  return entry;
}

async function poll(entry) {
  clearTimeout(entry.timer);
  if (entry.busy || !entry.views.size || document.hidden || session.refused) return;
  entry.busy = true;
  const began = performance.now();
  try {
    const data = await entry.load();
    Object.assign(entry, { data, at: Date.now(), error: null });
  } catch (error) {
    Object.assign(entry, { error, failedAt: Date.now() });
    if (error.status === 404) entry.data = undefined; // the object was deleted; other errors keep the old data
  }
  entry.busy = false;
  entry.views.forEach((changed) => changed());
  // A slow request is repeated less often, and a failed request is retried soon.
  const pause = entry.error ? Math.min(entry.pause, pollEvery) : entry.pause;
  entry.timer = setTimeout(() => poll(entry), Math.max(pause, 4 * (performance.now() - began)));
}

// isLoaded reports whether each request of the page has had an answer or an error.
export const isLoaded = () => [...entries.values()].every((e) => !e.views.size || e.data !== undefined || e.error);

// refresh repeats all requests of the page.
export function refresh() { entries.forEach(poll); }

document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh(); });

// untold returns the latest error that no Waiting shows, or undefined.
export function untold() {
  const failed = [...entries.values()].filter((entry) => entry.error && entry.views.size && !entry.told);
  return failed.sort((a, b) => b.failedAt - a.failedAt)[0]?.error;
}

// useLive returns { data, error } of a path of the API, and updates them. load replaces the request. An empty path has
// no requests. With lasting, the data of the previous path stays until the first answer of a new path.
export function useLive(path, { load, pause = pollEvery, lasting = false } = {}) {
  const [, redraw] = useState(0);
  const last = useRef();
  useEffect(() => {
    if (!path) return undefined;
    const entry = entryOf(path, load || (() => request(path)), pause);
    if (lasting) entry.data ??= last.current;
    const changed = () => redraw((n) => n + 1);
    entry.views.add(changed);
    poll(entry);
    return () => {
      entry.views.delete(changed);
      if (!entry.views.size) {
        clearTimeout(entry.timer);
        entries.delete(path);
      }
    };
  }, [path]);
  const live = entries.get(path) || { data: lasting ? last.current : undefined, error: null, told: 0 };
  last.current = live.data;
  return live;
}

// useList is useLive for all pages of a list with its entries in a field of the answer.
export const useList = (path, field, options) => useLive(path, { load: () => every(path, field), ...options });
