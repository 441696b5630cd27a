// Conditions: the first line of the overview, and the conditions of the node by name and cause, the worst first.
import { html } from '../dom.js';
import { session, useLive } from '../api.js';
import { aboutName, count, viewOf } from '../format.js';
import { Age, Command, Waiting } from '../parts.js';
import { Release } from './holds.js';

// labels replaces the severity of conditions that are worse for clients than for the node.
const labels = {
  no_name_answered: ['no answer', 'bad'],
  name_unanswered: ['no answer', 'bad'],
  name_on_last_resort: ['fallback answer', 'bad'],
};
const labelOf = (c) => labels[c.kind] || [c.severity, c.severity === 'unhealthy' ? 'bad' : 'warn'];
const ranks = { bad: 0, degraded: 1, attention: 2 };
const rankOf = (c) => ranks[labelOf(c)[1]] ?? ranks[c.severity] ?? 1;

// headline returns the first line of the view: its coloured word, the rest, and the tone. Without a name that has no
// answer, gslbctl status writes the same line.
function headline({ status, conditions, total }, waiting) {
  const problems = total + (waiting ? 1 : 0);
  const things = count(problems, 'thing needs', 'things need');
  if (session.silentSince) return ['unknown', ': the node does not answer', 'plain'];
  if (!problems) return ['healthy', ': nothing needs attention', 'good'];
  const unanswered = conditions.filter((c) => c.kind === 'name_unanswered').length;
  if (unanswered) return ['no answer', ` for ${count(unanswered, 'name', 'names')}; ${things} attention`, 'bad'];
  if (status === 'healthy') return ['attention', `: ${problems}`, 'warn'];
  return [status, `: ${things} attention`, status === 'unhealthy' ? 'bad' : 'warn'];
}

// groupsOf groups conditions of one kind and name, the worst group first.
export function groupsOf(conditions) {
  const groups = Map.groupBy(conditions, (c) =>
    `${c.kind} ${aboutName.test(c.kind) ? c.subject.split(/[ :]/)[0] : ''}`);
  return [...groups.values()].sort(([a], [b]) => rankOf(a) - rankOf(b));
}

// Sentence shows the sentence of a condition: its first two parts as a link, and the reasons in one line, which shows
// all of them on hover.
function Sentence({ c }) {
  const parts = c.sentence.split(': ');
  const head = parts.slice(0, 2).join(': '), reasons = parts.slice(2).join(': ');
  return html`
    <span class="sentence">
      ${viewOf(c) ? html`<a href=${viewOf(c)}>${head}</a>` : html`<span>${head}</span>`}
      ${reasons && html`<span class="reasons" title=${reasons}>${reasons}</span>`}
    </span>
    ${' '}<${Command} text=${c.command} />
    ${c.kind === 'agents_held' && html` <${Release} subject=${c.subject} />`}`;
}

function Group({ list: [first, ...more] }) {
  const [word, tone] = labelOf(first);
  return html`
    <li>
      <span class=${'severity ' + tone}>${word}</span>
      <span class="what">
        <${Sentence} c=${first} />
        ${more.length > 0 && html`
          <details>
            <summary>${more.length} more of this kind</summary>
            <ul>${more.map((c) => html`<li key=${c.sentence}><${Sentence} c=${c} /></li>`)}</ul>
          </details>`}
      </span>
    </li>`;
}

export function Band() {
  const live = useLive('/v1/overwatch/conditions?limit=1000');
  const ready = useLive('/v1/ready').data;
  if (!live.data) return html`<${Waiting} live=${live} />`;
  const { conditions, total } = live.data;
  const waiting = ready && !ready.ready;
  const [word, rest, tone] = headline(live.data, waiting);
  return html`
    <section class=${'band ' + tone} aria-labelledby="band">
      <h1 id="band"><span role="status"><span class="word">${word}</span>${rest}</span> <${Age} /></h1>
      ${(total > 0 || waiting) && html`
        <ul>
          ${waiting && html`<li>not ready: ${ready.message}</li>`}
          ${groupsOf(conditions).map((list) => html`<${Group} key=${list[0].kind + list[0].subject} list=${list} />`)}
          ${total > conditions.length && html`<li>and ${total - conditions.length} more</li>`}
        </ul>`}
    </section>`;
}
