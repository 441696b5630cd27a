// Dialogs, and changes. A change shows its consequences before it is made.
import { html, useEffect, useRef, useState } from './dom.js';
import { refresh, request, useLive } from './api.js';
import { count } from './format.js';

// Dialog is open as long as it is drawn. The browser keeps the focus inside, and gives it back when it is closed, which
// is before it is taken out of the page.
export function Dialog({ title, close, children }) {
  const place = useRef(null);
  useEffect(() => {
    const dialog = place.current;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return html`
    <dialog ref=${place} onClose=${close} aria-labelledby="dialog">
      <header>
        <h2 id="dialog">${title}</h2>
        <button type="button" class="small" onClick=${() => place.current.close()}>Close</button>
      </header>
      ${children}
    </dialog>`;
}

const answers = {
  none: 'nobody would answer it',
  last_resort: 'its last resort would answer',
  zero_weight: 'only those of weight 0 would answer',
};

// sentenceOf says what becomes of a name, as gslbctl says it.
export const sentenceOf = (n) =>
  `${n.name} would be left with ${n.serving} of at least ${count(n.minimum, 'backend', 'backends')}: ` +
  `${answers[n.answer] || n.answer} (${n.query_types.join(' and ')})`;

// useConsequences asks which names a change would leave with too few backends. It returns the state of the answer and a
// function that asks again. The argument is the body of the question; a change that takes nothing away has null.
function useConsequences(what) {
  const [state, setState] = useState({ names: null });
  const key = JSON.stringify(what);
  const ask = () => {
    if (!what) {
      setState({ names: [] });
      return;
    }
    setState({ names: null });
    request('/v1/routing/consequences', { method: 'POST', body: what }).then(
      (list) => setState({ names: list.names }),
      (error) => setState({ names: null, error: error.message }),
    );
  };
  useEffect(ask, [key]);
  return [state, ask];
}

function Consequences({ state }) {
  if (state.error) return html`<p class="notice bad" role="alert">${state.error}</p>`;
  if (!state.names) return html`<p class="notice">Asking what would follow</p>`;
  if (!state.names.length) return html`<p class="notice good">No name is left with too few backends.</p>`;
  return html`
    <div class="notice bad" role="alert">
      <strong>What follows</strong>
      <ul>${state.names.map((n) => html`<li key=${n.name}>${sentenceOf(n)}</li>`)}</ul>
    </div>`;
}

// OneNode warns that the other nodes would not learn of a change, where replication is off.
function OneNode() {
  const nodes = useLive('/v1/nodes/overwatch?limit=1000', { pause: 30000 }).data?.nodes || [];
  const replication = useLive('/v1/replication', { pause: 30000 }).data;
  const others = nodes.filter((n) => !n.self).length;
  if (!others || !replication || replication.enabled) return null;
  return html`
    <p class="notice warn">
      This changes this node alone: replication is off. <code>gslbctl</code> reaches the
      other ${count(others, 'node', 'nodes')} too.
    </p>`;
}

// Change is the form of one change: it has the inputs, shows the consequences and makes the change.
// fields are the inputs. takes is the body of the question for consequences, or null. send(values, query) makes the
// change. The query asks the node for if_safe where no consequences were shown, so that it refuses new ones. Where a
// name would be answered by nobody, the operator must type that name.
export function Change({ verb, danger, fields, takes, send, close, note }) {
  const [state, ask] = useConsequences(takes);
  const [typed, setTyped] = useState('');
  const [outcome, setOutcome] = useState({});
  const lost = state.names?.find((n) => n.answer === 'none');
  const submit = async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(event.target));
    setOutcome({ busy: true });
    try {
      await send(values, takes && !state.names.length ? '?if_safe=true' : '');
      refresh();
      close();
    } catch (error) {
      setOutcome({ error: error.message });
      if (error.status === 409) ask();
    }
  };
  return html`
    <form class="change" onSubmit=${submit}>
      ${fields}
      ${takes && html`<${Consequences} state=${state} />`}
      ${note}
      <${OneNode} />
      ${lost && html`
        <label>Nobody would answer. Type <strong>${lost.name}</strong> if that is meant
          <input autocomplete="off" value=${typed} onInput=${(e) => setTyped(e.target.value)} />
        </label>`}
      ${outcome.error && html`<p class="notice bad" role="alert">${outcome.error}</p>`}
      <footer>
        <button
          class=${danger || state.names?.length ? 'danger' : 'main'}
          disabled=${!state.names || outcome.busy || (lost && typed !== lost.name)}
        >${state.names?.length ? `${verb} all the same` : verb}</button>
      </footer>
    </form>`;
}
