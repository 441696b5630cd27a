// A form for the settings of an object, generated from the schema of the API. It shows the consequences of a change,
// and saves the change after confirmation.
import { html, useRef, useState } from './dom.js';
import { mayAdmin, refresh, useLive } from './api.js';
import { Dialog, OneNode, sentenceOf } from './dialog.js';
import { Diff } from './diff.js';
import { count, percent } from './format.js';
import { Waiting } from './parts.js';

const readable = (text) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');

// fieldsOf lists the fields of a schema: their paths, types and descriptions. Maps are omitted.
export function fieldsOf(schema, omit = [], path = []) {
  return Object.entries(schema.properties || {}).filter(([name]) => !omit.includes(name)).flatMap(([name, s]) => {
    const at = [...path, name];
    if (s.properties) return fieldsOf(s, [], at);
    if (s.additionalProperties || s.items?.properties) return [];
    return [{
      path: at,
      key: at.join('.'),
      type: [].concat(s.type || []).find((t) => t !== 'null') || 'any',
      least: s.minimum,
      most: s.maximum,
      about: readable(s.description || ''),
    }];
  });
}

const valueAt = (object, path) => path.reduce((value, name) => value?.[name], object);

function written(value) {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

// parsed returns the value of a text, or null for an empty text: the default.
function parsed(text, type) {
  const trimmed = text.trim();
  if (!trimmed) return null;
  switch (type) {
    case 'boolean': return trimmed === 'true';
    case 'integer':
    case 'number': return Number(trimmed);
    case 'array': return trimmed.split(',').map((part) => part.trim()).filter(Boolean);
    case 'any': return trimmed.startsWith('{') ? JSON.parse(trimmed) : trimmed;
  }
  return trimmed;
}

// patchOf returns the merge patch of the changed texts.
export function patchOf(fields, object, texts) {
  const patch = {};
  for (const f of fields) {
    const text = texts[f.key];
    if (text === undefined || text === written(valueAt(object, f.path))) continue;
    let into = patch;
    for (const name of f.path.slice(0, -1)) into = into[name] ??= {};
    into[f.path.at(-1)] = parsed(text, f.type);
  }
  return patch;
}

function Input({ field, value, words, change }) {
  const props = {
    name: field.key,
    value,
    onInput: (e) => change(e.target.value),
    'aria-describedby': `about-${field.key}`,
  };
  if (field.type === 'boolean' || words) {
    const options = words || ['true', 'false'];
    return html`
      <select ...${props}>
        <option value="">default</option>
        ${options.map((w) => html`<option key=${w}>${w}</option>`)}
      </select>`;
  }
  if (field.type === 'integer' || field.type === 'number') {
    return html`
      <input
        ...${props}
        type="number"
        step=${field.type === 'integer' ? 1 : 'any'}
        min=${field.least}
        max=${field.most}
        placeholder="default"
      />`;
  }
  return html`<input ...${props} autocomplete="off" placeholder=${field.type === 'array' ? 'a, b' : 'default'} />`;
}

const shares = (list) => list.map((s) => `${s.address} ${percent(s.share, 0)}`).join(', ') || 'no address';

// Consequences shows the changed fields, and the answers that the change affects.
function Consequences({ plan, before, after }) {
  const { names = [], losses = [] } = plan?.answers || {};
  return html`
    <h3>Consequences</h3>
    <${Diff} before=${before} after=${after} />
    ${losses.length > 0 && html`
      <div class="notice bad" role="alert">
        <ul>${losses.map((n) => html`<li key=${n.name}>${sentenceOf(n)}</li>`)}</ul>
      </div>`}
    ${names.length > 0 && html`
      <ul>
        ${names.map((n) => html`
          <li key=${n.query_type + n.client_region}>
            ${n.query_type} for ${n.client_region ? `clients in ${n.client_region}` : 'clients without a region'}:
            ${' '}${shares(n.before)} becomes ${shares(n.after)}
            ${n.counted > 0 && html`
              <span class="dim"> (${count(n.counted, 'answer', 'answers')} of the last hour)</span>`}
          </li>`)}
      </ul>`}
    ${plan && !names.length && !losses.length && html`<p class="notice good">No answer gets another address.</p>`}
    ${!plan && html`<p class="dim">The node checks the values when they are saved.</p>`}`;
}

// Form has the fields of an object. plan(patch) resolves with the plan of a change; without plan, the form shows only
// the changed fields. save(patch) makes the change. words lists the possible values of fields.
function Form({ fields, object, words, plan, save, close }) {
  const [texts, setTexts] = useState({});
  const [wanted, find] = useState('');
  const [state, setState] = useState({});
  const edits = useRef(0); // a plan of earlier inputs is discarded
  const change = (key) => (text) => {
    edits.current++;
    setTexts({ ...texts, [key]: text });
    setState({});
  };
  const submit = async (event) => {
    event.preventDefault();
    const edit = edits.current;
    setState({ ...state, busy: true, error: '' });
    try {
      if (!state.patch) {
        const patch = patchOf(fields, object, texts);
        const planned = plan && await plan(patch);
        if (edit === edits.current) setState({ patch, plan: planned });
        return;
      }
      await save(state.patch);
      refresh();
      close();
    } catch (error) {
      if (state.patch || edit === edits.current) setState({ error: error.message });
    }
  };
  const before = state.patch && Object.fromEntries(Object.keys(state.patch).map((name) => [name, object[name]]));
  const after = state.patch && Object.fromEntries(Object.entries(state.patch).map(([name, value]) => [
    name,
    value && typeof value === 'object' && !Array.isArray(value) ? { ...object[name], ...value } : value,
  ]));
  const isChanged = fields.some((f) => texts[f.key] !== undefined && texts[f.key] !== written(valueAt(object, f.path)));
  const risky = state.plan?.answers.losses.length > 0;
  const shown = fields.filter((f) => `${f.key} ${f.about}`.toLowerCase().includes(wanted.toLowerCase()));
  return html`
    <form class="change" onSubmit=${submit}>
      <label class="filter">Find a setting <input type="search" onInput=${(e) => find(e.target.value)} /></label>
      <div class="settings">
        ${shown.map((f) => html`
          <label key=${f.key}>
            <span class="mono">${f.key}</span>
            <${Input}
              field=${f}
              value=${texts[f.key] ?? written(valueAt(object, f.path))}
              words=${words[f.key]}
              change=${change(f.key)}
            />
            <span class="note" id=${`about-${f.key}`}>${f.about}</span>
          </label>`)}
        ${!shown.length && html`<p class="dim">No setting matches.</p>`}
      </div>
      ${state.error && html`<p class="notice bad" role="alert">${state.error}</p>`}
      ${state.patch && html`<${Consequences} plan=${state.plan} before=${before} after=${after} />`}
      <${OneNode} />
      <footer>
        <button class=${risky ? 'danger' : 'main'} disabled=${state.busy || !isChanged}>
          ${!state.patch ? 'Show consequences' : risky ? 'Save anyway' : 'Save'}
        </button>
      </footer>
    </form>`;
}

// Edit is a button that opens the form. schema is the name of the request's schema; omit lists fields without an input.
// With the verb Add, the form creates an object.
export function Edit({ verb = 'Edit', title, schema, object, omit = [], words = {}, plan, save }) {
  const [opened, open] = useState(null);
  const api = useLive(opened ? '/v1/openapi.json' : '', { pause: 3600e3 });
  if (!mayAdmin() || !object) return null;
  const found = api.data?.components.schemas[schema];
  return html`
    <button type="button" class="small" aria-label=${`${verb} ${title}`} onClick=${() => open(object)}>${verb}</button>
    ${opened && html`
      <${Dialog} title=${`${verb} ${title}`} close=${() => open(null)}>
        ${found
          ? html`
            <${Form}
              fields=${fieldsOf(found, omit)}
              object=${opened}
              words=${words}
              plan=${plan}
              save=${save}
              close=${() => open(null)}
            />`
          : html`<${Waiting} live=${api} />`}
      <//>`}`;
}
