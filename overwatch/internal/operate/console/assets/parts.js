// Small parts that every view uses.
import { html, useEffect, useState } from './dom.js';
import { number, toneOf } from './format.js';

const marks = { good: '●', warn: '▲', bad: '■', plain: '○' };

// Status shows a word in its color, with a mark of a distinct shape for each color.
export function Status({ word, tone = toneOf(word), title }) {
  return html`
    <span class=${'status ' + tone} title=${title}>
      <span aria-hidden="true">${marks[tone]}</span> ${word}
    </span>`;
}

export function Panel({ title, aside, children, id }) {
  return html`
    <section class="panel" aria-labelledby=${id}>
      <header>
        <h2 id=${id}>${title}</h2>
        ${aside && html`<div class="aside">${aside}</div>`}
      </header>
      ${children}
    </section>`;
}

// Waiting replaces a missing answer. If the last request failed, it shows the error, also with an older answer.
export function Waiting({ live }) {
  useEffect(() => {
    live.told++;
    return () => { live.told--; };
  }, [live]);
  if (live.error) return html`<p class="notice bad" role="alert">${live.error.message}</p>`;
  return live.data ? null : html`<p class="dim">Asking the node</p>`;
}

const minute = 60000; // ms

// useMinute returns the end of the minute that it is now, in ms.
export function useMinute() {
  const read = () => Math.ceil(Date.now() / minute) * minute;
  const [end, setEnd] = useState(read);
  useEffect(() => {
    const t = setInterval(() => setEnd(read()), 2000);
    return () => clearInterval(t);
  }, []);
  return end;
}

// go shows the view at an address. It adds no step to the browser's history.
export function go(...parts) {
  history.replaceState(null, '', '#/' + parts.map(encodeURIComponent).join('/').replace(/\/+$/, ''));
  dispatchEvent(new Event('hashchange'));
}

export async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea'); // plain HTTP has no clipboard
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  return undefined;
}

export function Copy({ text, label = 'Copy', name }) {
  const [done, setDone] = useState('');
  const copy = () => copyText(typeof text === 'function' ? text() : text)
    .then(() => setDone('Copied'), () => setDone('Not copied'))
    .then(() => setTimeout(() => setDone(''), 1500));
  return html`<button type="button" class="small" onClick=${copy} aria-label=${name}>${done || label}</button>`;
}

// Cut shows that a list has only the first entries, with the command that lists all entries.
export const Cut = ({ has, total, command }) => total > has && html`
  <p class="dim">the first ${number(has)} of ${number(total)}; <code>${command}</code> has all</p>`;

// Share shows a part of a whole as a bar and a number.
export function Share({ part, text }) {
  return html`
    <span class="share">
      <span class="bar" aria-hidden="true"><span style=${{ width: `${100 * part}%` }}></span></span>
      <span class="num">${text}</span>
    </span>`;
}
