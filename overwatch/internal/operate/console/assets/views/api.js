// The operations of the API, by the script that also serves nodes without a console. The view needs no token.
import { html, useEffect, useRef, useState } from '../dom.js';
import { insecure, session } from '../api.js';

export function API({ path: [opened] }) {
  const place = useRef(null);
  const [state, setState] = useState({});
  useEffect(() => {
    import('/api/docs/docs.js')
      .then(async ({ load, show }) => {
        const spec = await load();
        const find = show(place.current, spec, () => (insecure ? '' : session.token), opened);
        setState({ find });
      })
      .catch((error) => setState({ error: error.message }));
  }, []);
  return html`
    <link rel="stylesheet" href="/api/docs/docs.css" />
    <h1>API</h1>
    <div class="line filters">
      <label class="filter">
        <span class="unseen">Find a path or a word</span>
        <input
          type="search"
          placeholder="Find a path or a word"
          disabled=${!state.find}
          onInput=${(e) => state.find(e.target.value)}
        />
      </label>
      <a href="/api/v1/openapi.json">openapi.json</a>
    </div>
    ${state.error && html`<p class="notice bad" role="alert">${state.error}</p>`}
    <div ref=${place} class="operations"></div>`;
}
