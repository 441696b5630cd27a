// Dialogs and changes. A change shows its consequences and requires confirmation.
import { html, useEffect, useRef, useState } from './dom.js';
import { refresh, request, useLive } from './api.js';
import { count } from './format.js';

// Dialog is open while it is rendered. The browser holds the focus inside, and restores it at the end.
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
  none: 'no backend would be left to answer',
  last_resort: 'its fallback answer would be used',
  zero_weight: 'only backends of weight 0 would answer',
};

// sentenceOf describes the effect of a change on a domain, in the words of gslbctl.
export const sentenceOf = (n) =>
  `${n.name} would be left with ${n.serving} of at least ${count(n.minimum, 'backend', 'backends')}: ` +
  `${answers[n.answer] || n.answer} (${n.query_types.join(' and ')})`;

// useConsequences requests the domains that a change would leave with fewer backends than required. It returns the
// state of the answer and a function that repeats the request. The argument is the body of the request, or null for a
// change that removes no backend.
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
  if (!state.names) return html`<p class="notice">Checking the consequences</p>`;
  if (!state.names.length) return html`<p class="notice good">Each domain has the required number of backends.</p>`;
  return html`
    <div class="notice bad" role="alert">
      <strong>Consequences</strong>
      <ul>${state.names.map((n) => html`<li key=${n.name}>${sentenceOf(n)}</li>`)}</ul>
    </div>`;
}

// OneNode warns that a change stays on this node if replication is off.
export function OneNode() {
  const nodes = useLive('/v1/nodes/overwatch?limit=1000', { pause: 30000 }).data?.nodes || [];
  const replication = useLive('/v1/replication', { pause: 30000 }).data;
  const others = nodes.filter((n) => !n.self).length;
  if (!others || !replication || replication.enabled) return null;
  return html`
    <p class="notice warn">
      This change applies to this node only: replication is off. <code>gslbctl</code> changes the
      other ${count(others, 'node', 'nodes')} as well.
    </p>`;
}

// Change is the form of a change: it has the inputs, shows the consequences and makes the change.
// fields are the inputs. takes is the body of the request for consequences, or null. send(values, query) makes the
// change. Without consequences, the query has if_safe, so that the node rejects a change with new consequences. The
// operator must type the name of a domain without a remaining backend.
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
        <label>No backend would be left. Type <strong>${lost.name}</strong> to confirm
          <input autocomplete="off" value=${typed} onInput=${(e) => setTyped(e.target.value)} />
        </label>`}
      ${outcome.error && html`<p class="notice bad" role="alert">${outcome.error}</p>`}
      <footer>
        <button
          class=${danger || state.names?.length ? 'danger' : 'main'}
          disabled=${!state.names || outcome.busy || (lost && typed !== lost.name)}
        >${state.names?.length ? `${verb} anyway` : verb}</button>
      </footer>
    </form>`;
}
