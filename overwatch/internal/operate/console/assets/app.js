// The frame around the views: the session, the navigation and the address of each view.
import { html, render, useEffect, useState } from './dom.js';
import {
  endSession, insecure, isLoaded, noToken, readSession, request, session, signIn, signOut, untold, useLive, useSession,
  watchNode,
} from './api.js';
import { span } from './format.js';
import { useTick } from './parts.js';
import { follow } from './stream.js';
import { Overview } from './views/overview.js';
import { Names } from './views/names.js';
import { Name } from './views/name.js';
import { WorldMap } from './views/map.js';
import { Agents } from './views/agents.js';
import { DNSSEC } from './views/dnssec.js';
import { Events } from './views/events.js';
import { Audit } from './views/audit.js';
import { Settings } from './views/settings.js';
import { API } from './views/api.js';

const views = [
  ['overview', 'Overview', Overview],
  ['names', 'Names', Names],
  ['map', 'Map', WorldMap],
  ['agents', 'Agents', Agents],
  ['dnssec', 'DNSSEC', DNSSEC],
  ['events', 'Events', Events],
  ['audit', 'Audit log', Audit],
  ['settings', 'Settings', Settings],
  ['api', 'API', API],
];
const formerNames = { signing: 'dnssec', changes: 'audit' };

// decoded decodes a part of the address, or returns an invalid part unchanged.
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// address returns the address of the view. At the path of the API page, the default is its view; an anchor names an
// operation.
const address = () => (location.pathname === '/api/docs' && !location.hash.startsWith('#/')
  ? `#/api/${location.hash.slice(1)}`
  : location.hash);

function useRoute() {
  const read = () => address().replace(/^#\/?/, '').split('/').map(decoded);
  const [route, setRoute] = useState(read());
  useEffect(() => {
    const changed = () => setRoute(read());
    addEventListener('hashchange', changed);
    changed(); // the address may have changed since the first rendering
    return () => removeEventListener('hashchange', changed);
  }, []);
  return route;
}

function Theme() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme);
  const other = theme === 'dark' ? 'light' : 'dark';
  const flip = () => {
    document.documentElement.dataset.theme = other;
    localStorage.setItem('gslb-theme', other);
    setTheme(other);
  };
  return html`<button type="button" class="small" onClick=${flip}>${other === 'dark' ? 'Dark' : 'Light'}</button>`;
}

// Pulse shows whether the node answers, so that an operator knows whether the page is current.
function Pulse() {
  useTick(1000);
  const s = useSession();
  const silent = s.silentSince && (Date.now() - s.silentSince) / 1000;
  return html`
    <span class=${'pulse ' + (silent ? 'bad' : 'good')} role="status">
      <span aria-hidden="true" class="dot"></span>
      ${silent ? 'no answer' : s.lastAnswer ? 'live' : 'connecting'}
    </span>`;
}

// Silence shows the time since the last answer of the node. A screen reader reads it once.
function Silence() {
  useTick(1000);
  const { silentSince, lastAnswer } = useSession();
  if (!silentSince) return null;
  return html`
    <p class="notice bad">
      <span role="alert">The node has not answered</span>
      ${' '}for ${span((Date.now() - (lastAnswer || silentSince)) / 1000)}.
      ${lastAnswer ? ' The values of this page are old and gray.' : ''} The page retries each second.
    </p>`;
}

// Old shows the error of a failed request that no other component shows.
function Old() {
  useTick(1000);
  const { silentSince } = useSession();
  const error = untold();
  if (silentSince || !error) return null;
  return html`<p class="notice bad" role="alert">Parts of the page may be outdated: ${error.message}.</p>`;
}

function SignIn() {
  const { refused, canSignIn } = useSession();
  if (insecure) {
    return html`
      <main class="gate">
        <h1>gslb</h1>
        <p class="notice warn">
          This node requires a token, and this page was loaded over plain HTTP from another machine. A token would be
          readable in the network, so sign-in is disabled.
        </p>
        <p>Configure a certificate for the API (<code>api.tls</code>), or open the console through a tunnel:</p>
        <pre>ssh -L 8080:127.0.0.1:${location.port || 80} ${location.hostname}</pre>
      </main>`;
  }
  const submit = (event) => {
    event.preventDefault();
    const token = event.target.elements.token.value.trim();
    if (token) signIn(token);
  };
  const wrong = refused !== noToken;
  return html`
    <main class="gate">
      <h1>gslb</h1>
      ${canSignIn && html`<p><a id="sign-in" href="/auth/sign-in">Sign in with your account</a></p>`}
      <form onSubmit=${submit}>
        <p>This node wants one of its <code>api.tokens</code>. It stays in this tab and ends with it.</p>
        <label>Token <input
          name="token"
          type="password"
          autocomplete="off"
          autofocus
          aria-describedby="refused"
        /></label>
        <p id="refused" class="notice bad" role="alert" hidden=${!wrong}>${refused}</p>
        <button class="main">Open the console</button>
      </form>
      <p><a href="#/api">API documentation</a></p>
    </main>`;
}

const settling = 40; // ms between two checks of the requests
const patience = 1500; // ms after which a page is visible without all its answers

// useLoaded reports whether the requests of a view have their first answers. Until then the view is invisible, so that
// its parts do not move while the reader looks at them.
function useLoaded(view) {
  const [loaded, setLoaded] = useState('');
  useEffect(() => {
    const began = Date.now();
    let times = 0; // successive checks; an answer can cause a further request
    const timer = setInterval(() => {
      times = isLoaded() ? times + 1 : 0;
      if (times < 3 && Date.now() - began < patience) return;
      clearInterval(timer);
      setLoaded(view);
    }, settling);
    return () => clearInterval(timer);
  }, [view]);
  return loaded === view;
}

function Frame() {
  const [view = 'overview', ...rest] = useRoute();
  const system = useLive('/v1/config/system', { pause: 30000 }).data?.config;
  const s = useSession();
  const [key, title, View] = views.find(([name]) => name === (formerNames[view] || view)) || views[0];
  useEffect(() => {
    document.title = `${(key === 'names' && rest[0]) || title} - ${system?.node_name || 'gslb'}`;
  });
  const Shown = key === 'names' && rest[0] ? Name : View;
  const name = Shown === Name ? rest[0] : '';
  const loaded = useLoaded(key + '/' + name);
  useEffect(() => {
    document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest' }); // on a phone
    scrollTo(0, 0);
  }, [view, name]);
  return html`
    <a
      class="skip"
      href="#content"
      onClick=${(e) => {
        e.preventDefault();
        document.getElementById('content').focus();
      }}
    >To the content</a>
    <header class="top">
      <div class="brand">
        <span class="logo" aria-hidden="true"></span>
        <strong>${system?.node_name || 'gslb'}</strong>
        <span class="dim wide">${system ? `${system.region || 'no region'} · ${system.version}` : ''}</span>
      </div>
      <div class="session">
        <${Pulse} />
        ${s.role === 'read' && html`
          <span class="role" title="This token, or this address, may read and change nothing.">read only</span>`}
        <${Theme} />
        ${s.token && html`<button type="button" class="small" onClick=${signOut}>Sign out</button>`}
        ${s.person && html`
          <span class="role" title="The person of this session">${s.person.replace('oidc:', '')}</span>
          <button type="button" class="small" onClick=${endSession}>Sign out</button>`}
      </div>
    </header>
    <nav aria-label="Views">
      ${views.map(([name, label]) => html`
        <a
          class=${name === 'api' ? 'apart' : undefined}
          href=${'#/' + name}
          aria-current=${name === key ? 'page' : undefined}
        >${label}</a>`)}
    </nav>
    <main id="content" tabindex="-1">
      <${Silence} />
      <${Old} />
      <div class=${'page' + (loaded ? '' : ' loading')}><${Shown} key=${key + '/' + name} path=${rest} /></div>
    </main>`;
}

function App() {
  const { refused } = useSession();
  const [view] = useRoute();
  const [asked, setAsked] = useState(false);
  useEffect(() => {
    Promise.all([readSession(), request('/v1/config/system').catch(() => {})]).then(() => setAsked(true));
  }, []);
  if (refused && view !== 'api') return html`<${SignIn} />`;
  return asked || session.lastAnswer || view === 'api'
    ? html`<${Frame} />`
    : html`<main class="gate"><p class="dim">Loading</p></main>`;
}

render(html`<${App} />`, document.getElementById('app'));
follow();
watchNode();
