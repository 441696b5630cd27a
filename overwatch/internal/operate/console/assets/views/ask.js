// Query as a client: the answer with each step, and each excluded backend.
import { html, useRef, useState } from '../dom.js';
import { request } from '../api.js';
import { decisionWord, endpoint, number, percent } from '../format.js';
import { Panel, Share, Status } from '../parts.js';
import { height, Land, placeAt, width } from './map.js';

const places = {
  custom_mapping: 'a mapping',
  database: 'the database',
  default: 'the default',
  ecs: 'its subnet',
  resolver: "its resolver's address",
};

function Steps({ r }) {
  const where = r.client_region ? `in ${r.client_region}` : 'in no region';
  return html`
    <ol class="steps">
      ${r.nearby && html`
        <li>
          The network <span class="mono">${r.nearby.network}</span> asks: the geolocation database has it
          at ${r.nearby.latitude}, ${r.nearby.longitude}, ${number(r.nearby.kilometres)} km from there.
        </li>`}
      <li>
        ${r.client_subnet
          ? html`The client in <span class="mono">${r.client_subnet}</span>`
          : html`The client <span class="mono">${r.client_ip}</span>`} is ${where}
        ${r.client_country && `, ${r.client_country}`}, by ${places[r.located_by] || r.located_by}.
      </li>
      ${r.factors.map((f) => html`
        <li key=${f.name + f.value}>
          <span class="factor">${f.type}</span>
          ${' '}<span class=${/^[\d[]/.test(f.name) ? 'mono' : ''}>${f.name.replaceAll('_', ' ')}</span>:
          <strong> ${f.value}</strong> <span class="dim">- ${f.impact}</span>
        </li>`)}
      <li>
        <${Status} word=${decisionWord(r.decision)} /> ${r.answer.length ? 'The answer:' : 'No record.'}
        <pre class="records">${r.answer.join('\n')}</pre>
      </li>
    </ol>`;
}

function Chosen({ r }) {
  const list = [r.selected_backend, ...r.alternatives].filter(Boolean);
  return list.length > 0 && html`
    <h3>Who answers this client</h3>
    <ul class="plain chosen">
      ${list.map((b) => html`
        <li key=${b.address + b.port}>
          <span class="mono">${endpoint(b.address, b.port)}</span>
          ${' '}<span class="dim">${b.region}</span>
          ${' '}<${Share} part=${b.share} text=${percent(b.share)} />
        </li>`)}
    </ul>`;
}

function LeftOut({ r }) {
  return html`
    <h3>Excluded backends</h3>
    ${r.excluded.length
      ? html`
        <ul class="plain excluded">
          ${r.excluded.map((b) => html`
            <li key=${b.address + b.port}>
              <span class="mono">${endpoint(b.address, b.port)}</span>
              ${' '}<span class="dim">${b.region}</span>
              ${' '}<span>${b.reason}</span>
            </li>`)}
        </ul>`
      : html`<p class="dim">Nobody.</p>`}
    ${r.would_be.length > 0 && html`
      <h3>What it would be</h3>
      <ul class="plain">
        ${r.would_be.map((w) => html`
          <li key=${w.if_up}>
            if <span class="mono">${w.if_up}</span> were up:
            ${' '}${w.answers.map((a) => `${a.address} ${percent(a.share)}`).join(', ') || w.decision}
          </li>`)}
      </ul>`}`;
}

// who parses a client: an address, or a latitude and a longitude.
function who(text) {
  const place = /^(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)$/.exec(text);
  return place ? { place: { latitude: Number(place[1]), longitude: Number(place[2]) } } : { client_ip: text };
}

// OnMap is a map for selecting a location with a click. Without a pointer, the user enters the latitude and longitude.
function OnMap({ choose }) {
  const [open, setOpen] = useState(false);
  return html`
    <details class="onmap" onToggle=${(e) => setOpen(e.currentTarget.open)}>
      <summary>Choose a place on the map</summary>
      ${open && html`
        <svg viewBox=${`0 0 ${width} ${height}`} aria-hidden="true" onClick=${(e) => choose(placeAt(e))}>
          <${Land} />
        </svg>`}
    </details>`;
}

// kinds lists the record types of a domain. An SRV type is followed by its service.
const kinds = (d) => ['A', 'AAAA', ...(d.https ? ['HTTPS'] : []), ...(d.srv || []).map((service) => `SRV ${service}`)];

export function Ask({ name, domain }) {
  const [state, setState] = useState({});
  const form = useRef();
  const choose = ({ latitude, longitude }) => {
    form.current.elements.client.value = `${latitude}, ${longitude}`;
    form.current.requestSubmit();
  };
  const ask = async (event) => {
    event.preventDefault();
    const { client, subnet, kind } = event.target.elements;
    const [type, service] = kind.value.split(' ');
    const asked = name.replace('*', 'any');
    const body = { domain: service ? `${service}.${asked}` : asked, ...who(client.value.trim()), query_type: type };
    if (subnet.value.trim()) body.edns = { client_subnet: subnet.value.trim() };
    try {
      setState({ result: (await request('/v1/routing/test', { method: 'POST', body })).result });
    } catch (error) {
      setState({ error: error.message });
    }
  };
  const r = state.result;
  return html`
    <${Panel} title="Ask as a client" id="ask">
      <form class="line" ref=${form} onSubmit=${ask}>
        <label>Address of the client or its resolver, or latitude, longitude <input
          name="client"
          class="mono"
          required
          placeholder="198.51.100.7 or 50.1, 8.7"
          autocomplete="off"
        /></label>
        <label>Client subnet (EDNS) <input
          name="subnet"
          class="mono"
          placeholder="none"
          autocomplete="off"
        /></label>
        <label>Type <select name="kind">
          ${kinds(domain).map((k) => html`<option key=${k}>${k}</option>`)}
        </select></label>
        <button class="main">Ask</button>
      </form>
      <${OnMap} choose=${choose} />
      ${state.error && html`<p class="notice bad" role="alert">${state.error}</p>`}
      ${r && html`
        <div class="explained" aria-live="polite">
          <${Steps} r=${r} />
          <${Chosen} r=${r} />
          <${LeftOut} r=${r} />
        </div>`}
    <//>`;
}
