// Names: the list of domains, each with the current answers for the clients of each region.
import { html, useEffect, useRef, useState } from '../dom.js';
import { request, useList, useLive } from '../api.js';
import { Edit } from '../form.js';
import { decisionWord, number, percent } from '../format.js';
import { Cut, Status, Waiting } from '../parts.js';
import { Table, useFilter } from '../table.js';

const slow = 8000; // ms between two requests for the answers of a domain; the page has many domains

// useSeen reports whether the row of an element can be seen.
function useSeen() {
  const place = useRef(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const watch = new IntersectionObserver(([entry]) => setSeen(entry.isIntersecting), { rootMargin: '100px' });
    watch.observe(place.current.closest('tr'));
    return () => watch.disconnect();
  }, []);
  return [place, seen];
}

export const clientsOf = (answer) => (answer.everybody ? 'all regions' : answer.client_region || 'no region');

const listed = 4; // addresses of an answer that are shown

function sharesOf({ addresses }) {
  const more = addresses.length - listed;
  return addresses.slice(0, listed).map((s) => `${s.address} ${percent(s.share, 0)}`).join(', ') +
    (more > 0 ? ` and ${number(more)} more` : '');
}

// Now shows the answers that clients get now, in one line.
function Now({ name }) {
  const [place, seen] = useSeen();
  const live = useLive(
    seen ? `/v1/routing/answers?domain=${encodeURIComponent(name)}&query_type=A` : '',
    { pause: slow },
  );
  return html`
    <span ref=${place} class="now">
      ${live.data?.answers.map((a) => html`
        <span key=${clientsOf(a)} class="get">
          <span class="dim">${clientsOf(a)}</span>
          ${a.decision !== 'success' && html` <${Status} word=${decisionWord(a.decision)} />`}
          ${' '}<span class="mono">${sharesOf(a) || 'no address'}</span>
        </span>`)}
    </span>`;
}

// servingOf returns the number of serving backends of a domain. A drained backend does not serve. A disabled domain has
// none.
export const servingOf = (d) => (d.enabled ? `${d.serving_backends} of ${d.backend_count}` : 'off');

export function servingTone(d) {
  if (!d.enabled) return 'plain';
  if (d.answer_status !== 'normal') return 'bad';
  return d.serving_backends < d.backend_count ? 'warn' : 'good';
}

const answerWords = { none: 'no answer', fallback: 'fallback answer' };

// AnswerStatus shows that a domain gives no answer, or a fallback answer. It is empty for normal answers.
export const AnswerStatus = ({ d }) => answerWords[d.answer_status] &&
  html`<${Status} tone="bad" word=${answerWords[d.answer_status]} />`;

const columns = [
  {
    title: 'Name',
    csv: (d) => d.name,
    cell: (d) => html`<a class="name" href=${'#/names/' + encodeURIComponent(d.name)}>${d.name}</a>`,
  },
  {
    title: 'Serving',
    csv: (d) => (d.enabled ? `${d.serving_backends}/${d.backend_count}` : 'off'),
    class: 'num',
    cell: (d) => html`<${Status} tone=${servingTone(d)} word=${servingOf(d)} /> <${AnswerStatus} d=${d} />`,
  },
  { title: 'Required', csv: (d) => d.required_backends, class: 'num' },
  { title: 'Policy', csv: (d) => d.routing_policy },
  { title: 'TTL', csv: (d) => d.ttl, cell: (d) => `${d.ttl} s`, class: 'num' },
  { title: 'Answers now', cell: (d) => d.enabled && html`<${Now} name=${d.name} />` },
];

// create creates a domain and opens its page.
async function create(patch) {
  const { domain } = await request('/v1/domains', { method: 'POST', body: patch });
  location.hash = '#/names/' + encodeURIComponent(domain.name);
}

export function Names() {
  const live = useList('/v1/domains', 'domains');
  const [box, fits] = useFilter('Find a name, policy or tag');
  const rows = live.data?.domains
    .filter((d) => fits([d.name, d.routing_policy, d.description, ...d.tags].join(' '))) || [];
  const tools = html`
    <span class="choice">
      ${box}
      <${Edit} verb="Add" title="a name" schema="DomainChange" object=${{}} omit=${['routing_policy']} save=${create} />
    </span>`;
  return html`
    <h1>Names</h1>
    <${Waiting} live=${live} />
    ${live.data && html`
      <${Cut} has=${live.data.domains.length} total=${live.data.total} command="gslbctl domains list" />
      <${Table}
        caption="names"
        rows=${rows}
        columns=${columns}
        keyOf=${(d) => d.name}
        tools=${tools}
        empty="No name fits."
      />`}`;
}
