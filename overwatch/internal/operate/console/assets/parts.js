// Small parts that every view uses.
import { html, useEffect, useState } from './dom.js';
import { session, useSession } from './api.js';
import { number, since, span, toneOf, utc } from './format.js';

export const marks = { good: '●', warn: '▲', bad: '■', plain: '○' };

// useTick renders the component again at each interval, in ms.
export function useTick(every) {
  const [, tick] = useState(0);
  useEffect(() => {
    const t = setInterval(() => tick((n) => n + 1), every);
    return () => clearInterval(t);
  }, [every]);
}

// Status shows a word in its color, with a mark of a distinct shape for each color. While the node does not answer, it
// shows the last known word without a color.
export function Status({ word, tone = toneOf(word), title }) {
  const shown = session.silentSince ? 'plain' : tone;
  return html`
    <span class=${'status ' + shown} title=${title}>
      <span aria-hidden="true">${marks[shown]}</span> ${session.silentSince ? `was ${word}` : word}
    </span>`;
}

// Age shows the age of the values of the page while the node does not answer.
export function Age() {
  useTick(1000);
  const { silentSince, lastAnswer } = useSession();
  return silentSince && lastAnswer
    ? html`<span class="age">${span((Date.now() - lastAnswer) / 1000)} old</span>`
    : null;
}

// When shows how long ago a time is, with the time in UTC on hover. now is the time of the node's answer, by default
// the time of the browser.
export const When = ({ at, now }) => (at
  ? html`<time datetime=${at} title=${utc(at)}>${since(at, now)}</time>`
  : '-');

export function Panel({ title, aside, children, id }) {
  return html`
    <section class="panel" aria-labelledby=${id}>
      <header>
        <h2 id=${id}>${title}</h2>
        <div class="aside"><${Age} /> ${aside}</div>
      </header>
      ${children}
    </section>`;
}

// Waiting replaces a missing answer. If the last request failed, it shows the error, also with an older answer and its
// age.
export function Waiting({ live }) {
  useEffect(() => {
    live.told++;
    return () => { live.told--; };
  }, [live]);
  if (live.error) {
    return html`
      <p class="notice bad" role="alert">
        ${live.error.message}
        ${live.data && live.at > 0 && `. The values are from ${utc(new Date(live.at).toISOString())}`}
      </p>`;
  }
  return live.data ? null : html`<p class="dim">Loading</p>`;
}

// Command shows a command of gslbctl with a button that copies it.
export const Command = ({ text }) => text && html`
  <span class="command"><code>${text}</code> <${Copy} text=${text} name=${`Copy the command ${text}`} /></span>`;

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

// Choice is a filter by a word of a list. choose receives the changed filter.
export const Choice = ({ name, label, words, value, choose }) => html`
  <label>${label} <select name=${name} value=${value} onChange=${(e) => choose({ [name]: e.target.value })}>
    <option value="">all</option>
    ${(value && !words.includes(value) ? [value, ...words] : words).map((w) => html`<option key=${w}>${w}</option>`)}
  </select></label>`;

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
