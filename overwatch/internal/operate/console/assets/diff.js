// The comparison of two JSON values, field by field.
import { html } from './dom.js';
import { count } from './format.js';

// flat lists the fields of a value with their paths. A list is one field.
function flat(value, path = '', into = new Map()) {
  if (value && typeof value === 'object' && !Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value)) flat(inner, path ? `${path}.${key}` : key, into);
  } else if (value !== undefined && value !== null) {
    into.set(path || 'value', Array.isArray(value) ? value.map(written).join(', ') : String(value));
  }
  return into;
}

const written = (value) => (value && typeof value === 'object' ? JSON.stringify(value) : String(value));

// changesOf lists the fields that differ, as [field, before, after]. A missing value is an empty text.
export function changesOf(before, after) {
  const a = flat(before), b = flat(after);
  return [...new Set([...a.keys(), ...b.keys()])]
    .map((field) => [field, a.get(field) ?? '', b.get(field) ?? ''])
    .filter(([, x, y]) => x !== y);
}

// Diff shows the changed fields of an object before and after a change.
export function Diff({ before, after }) {
  const rows = changesOf(before, after);
  const same = new Set([...flat(before).keys(), ...flat(after).keys()]).size - rows.length;
  return html`
    ${rows.length > 0 && html`
      <table class="diff">
        <caption class="unseen">before and after</caption>
        <thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
        <tbody>
          ${rows.map(([field, x, y]) => html`
            <tr key=${field}>
              <th scope="row" class="mono">${field}</th>
              <td class="mono before">${x === '' ? '-' : x}</td>
              <td class="mono after">${y === '' ? '-' : y}</td>
            </tr>`)}
        </tbody>
      </table>`}
    <p class="dim">
      ${rows.length ? '' : 'No difference. '}
      ${same > 0 && `${count(same, 'other field is', 'other fields are')} unchanged.`}
    </p>`;
}
