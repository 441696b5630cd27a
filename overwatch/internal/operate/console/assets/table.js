// A table that sorts, copies as CSV and draws only the rows that can be seen.
import { html, useEffect, useMemo, useRef, useState } from './dom.js';
import { Age, Copy } from './parts.js';

const rowHeight = 38; // px, the row height of long tables in style.css
const whole = 150; // maximum number of rows that are drawn without virtual scrolling
const around = 6; // rows drawn above and below the visible rows

const quoted = (value) => {
  let text = String(value ?? '');
  if (/^[=+\-@\t\r]/.test(text) && !/^-?[\d.]+%?$/.test(text)) text = `'${text}`; // no formula for a spreadsheet
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export function csvOf(columns, rows) {
  return [columns.map((c) => quoted(c.title)), ...rows.map((row) => columns.map((c) => quoted(c.csv(row))))]
    .map((cells) => cells.join(',')).join('\r\n') + '\r\n';
}

function sorted(rows, column, down) {
  if (!column) return rows;
  const list = rows.map((row) => [column.csv(row), row]);
  list.sort(([a], [b]) => (typeof a === 'number' && typeof b === 'number'
    ? a - b
    : String(a).localeCompare(String(b), 'en', { numeric: true })));
  if (down) list.reverse();
  return list.map(([, row]) => row);
}

// useWindow returns the first drawn row, and the row after the last drawn row. The component is rendered again only
// when a row enters or leaves the visible part.
function useWindow(frame, total) {
  const [top, setTop] = useState(0);
  useEffect(() => {
    const element = frame.current;
    const scroll = () => setTop(Math.floor(element.scrollTop / rowHeight));
    element?.addEventListener('scroll', scroll, { passive: true });
    return () => element?.removeEventListener('scroll', scroll);
  }, []);
  if (total <= whole) return [0, total];
  const first = Math.max(0, top - around);
  const visible = Math.ceil((frame.current?.clientHeight || innerHeight) / rowHeight);
  return [first, Math.min(total, top + visible + around)];
}

// Gap fills the height of rows that are not drawn.
const Gap = ({ rows, span }) => rows > 0 && html`
  <tr aria-hidden="true" style=${{ height: `${rows * rowHeight}px` }}>
    <td colspan=${span}></td>
  </tr>`;

// Table shows rows. A column has a title, a cell(row) to show, a csv(row) to copy and sort by, and perhaps a class.
// A column without cell shows its csv. A column without csv is not copied, and one that is hidden is only copied. A
// column of the class act has buttons. keyOf(row) returns a key that stays the same when the row changes.
export function Table({ caption, columns: all, rows, keyOf, empty = 'None.', tools }) {
  const [order, setOrder] = useState({ at: -1, down: false });
  const frame = useRef(null);
  const columns = all.filter((c) => !c.hidden);
  // Rows with the same data keep their order while the table scrolls.
  const shown = useMemo(() => sorted(rows, columns[order.at], order.down), [rows, order.at, order.down]);
  const [first, last] = useWindow(frame, shown.length);
  const data = all.filter((c) => c.csv);
  // The first click on a title sorts in ascending order, the second in descending order, the third not at all.
  const sortBy = (at) => setOrder(order.at === at
    ? (order.down ? { at: -1 } : { at, down: true })
    : { at, down: false });
  return html`
    <div class="table">
      <div class="tools">
        <div>${tools}</div>
        <${Age} /> <span class="dim">${rows.length}</span>
        <${Copy} text=${() => csvOf(data, shown)} label="Copy CSV" name=${`Copy CSV of ${caption}`} />
      </div>
      <div
        class=${'frame' + (shown.length > whole ? ' long' : '')}
        ref=${frame}
        tabindex="0"
        role="region"
        aria-label=${`Table: ${caption}`}
      >
        <table aria-rowcount=${shown.length + 1}>
          <caption class="unseen">${caption}</caption>
          <thead>
            <tr>
              ${columns.map((c, at) => html`
                <th
                  scope="col"
                  class=${c.class}
                  aria-sort=${order.at === at ? (order.down ? 'descending' : 'ascending') : undefined}
                >
                  ${c.csv
                    ? html`
                      <button type="button" class="sort" onClick=${() => sortBy(at)}>
                        ${c.title}
                        ${order.at === at ? (order.down ? ' ▾' : ' ▴') : ''}
                      </button>`
                    : html`<span class=${c.class === 'act' ? 'unseen' : ''}>${c.title}</span>`}
                </th>`)}
            </tr>
          </thead>
          <tbody>
            <${Gap} rows=${first} span=${columns.length} />
            ${shown.slice(first, last).map((row, i) => html`
              <tr key=${keyOf(row)} aria-rowindex=${first + i + 2}>
                ${columns.map((c) => html`
                  <td class=${c.class} data-title=${c.title}>${c.cell ? c.cell(row) : c.csv(row)}</td>`)}
              </tr>`)}
            <${Gap} rows=${shown.length - last} span=${columns.length} />
          </tbody>
        </table>
        ${!rows.length && html`<p class="dim">${empty}</p>`}
      </div>
    </div>`;
}

// useFilter returns a search box, and a function that reports whether a text has all words of the box.
export function useFilter(label) {
  const [text, setText] = useState('');
  const box = html`
    <label class="filter">
      <span class="unseen">${label}</span>
      <input type="search" placeholder=${label} value=${text} onInput=${(e) => setText(e.target.value)} />
    </label>`;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return [box, (string) => {
    const low = string.toLowerCase();
    return words.every((word) => low.includes(word));
  }];
}
