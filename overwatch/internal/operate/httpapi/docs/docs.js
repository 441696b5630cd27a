// The list of operations of the OpenAPI document, for this page and for the view of the console. It can send GET
// requests. All text of the document and of answers is set as text, never as HTML.

const methods = ['get', 'post', 'put', 'patch', 'delete'];

// element makes an element with attributes and children; a string becomes a text node.
function element(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    e.setAttribute(key, value);
  }
  e.append(...children.filter((child) => child !== null && child !== undefined));
  return e;
}

function pretty(value) {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

// resolve follows a reference inside the document.
function resolve(spec, node) {
  let found = node;
  while (found && found.$ref) {
    found = found.$ref.slice(2).split('/').reduce((o, key) => o[key], spec);
  }
  return found || {};
}

// typeOf describes a schema in a word or two.
function typeOf(schema) {
  if (schema.$ref) {
    return schema.$ref.split('/').pop();
  }
  if (schema.oneOf) {
    return schema.oneOf.map(typeOf).join(' or ');
  }
  if (schema.enum) {
    return schema.enum.map(String).join(' | ');
  }
  if (schema.type === 'array') {
    return 'list of ' + typeOf(schema.items || {});
  }
  const type = [].concat(schema.type || 'any').join(' or ');
  return schema.format ? type + ' (' + schema.format + ')' : type;
}

function table(heads, rows) {
  return element('table', {},
    element('thead', {},
      element('tr', {}, ...heads.map((head) => element('th', {scope: 'col'}, head)))),
    element('tbody', {},
      ...rows.map((row) => element('tr', {}, ...row.map((cell) => element('td', {}, cell))))));
}

// fields lists the fields of a schema, and those of the objects in it. A type that contains itself is
// listed once.
function fields(spec, schema, prefix, seen) {
  const rows = [];
  const resolved = resolve(spec, schema);
  if (seen.has(resolved)) {
    return rows;
  }
  const inside = new Set(seen).add(resolved);
  for (const [name, property] of Object.entries(resolved.properties || {})) {
    const required = (resolved.required || []).includes(name) ? '' : ' (optional)';
    rows.push([prefix + name, typeOf(property) + required, property.description || '']);
    const inner = property.items || (property.oneOf ? property.oneOf[0] : property);
    if (inner.$ref) {
      rows.push(...fields(spec, inner, prefix + name + (property.items ? '[].' : '.'), inside));
    }
  }
  return rows;
}

function body(spec, title, content) {
  const parts = [];
  for (const [kind, media] of Object.entries(content || {})) {
    parts.push(element('h4', {}, title + ', ' + kind));
    if (media.example !== undefined) {
      parts.push(element('pre', {}, pretty(media.example)));
    }
    const rows = fields(spec, media.schema || {}, '', new Set());
    if (rows.length > 0) {
      parts.push(table(['field', 'type', 'meaning'], rows));
    }
  }
  return parts;
}

// tryIt makes a form that sends a GET request to this node and shows the answer. token() returns the token or ''.
function tryIt(path, parameters, token) {
  const inputs = parameters.filter((p) => p.in !== 'header').map((p) => {
    const example = p.example === undefined ? '' : String(p.example);
    const input = element('input', {type: 'text', 'aria-label': p.name, placeholder: example});
    return {parameter: p, input};
  });
  const output = element('pre', {hidden: '', tabindex: '0'});
  const button = element('button', {type: 'button'}, 'Send');
  button.addEventListener('click', async () => {
    let target = path;
    const query = new URLSearchParams();
    for (const {parameter, input} of inputs) {
      if (parameter.in === 'path') {
        target = target.replace('{' + parameter.name + '}', encodeURIComponent(input.value || input.placeholder));
      } else if (input.value !== '') {
        query.set(parameter.name, input.value);
      }
    }
    const search = query.toString();
    output.hidden = false;
    output.textContent = 'GET ' + target;
    try {
      const sent = token();
      const answer = await fetch(target + (search ? '?' + search : ''), {
        headers: sent ? {Authorization: 'Bearer ' + sent} : {},
        credentials: 'omit',
        redirect: 'error',
      });
      const text = await answer.text();
      let shown = text.slice(0, 200000);
      try {
        shown = pretty(JSON.parse(text));
      } catch (ignored) {
        // It is not JSON: it is shown as it is.
      }
      output.textContent = answer.status + ' ' + answer.statusText + '\n' + shown;
    } catch (error) {
      output.textContent = String(error);
    }
  });
  const rows = inputs.map(({parameter, input}) => [parameter.name, input]);
  return element('div', {},
    element('h4', {}, 'Try it'),
    rows.length > 0 ? table(['parameter', 'value'], rows) : null,
    button,
    output);
}

function content(spec, path, method, operation, token) {
  const parts = [];
  if (operation.description) {
    parts.push(element('p', {}, operation.description));
  }
  const parameters = operation.parameters || [];
  if (parameters.length > 0) {
    parts.push(
      element('h4', {}, 'Parameters'),
      table(['name', 'in', 'type', 'meaning'], parameters.map((p) => [
        p.name + (p.required ? ' *' : ''),
        p.in,
        typeOf(p.schema || {}),
        p.description || '',
      ])));
  }
  if (operation.requestBody) {
    parts.push(...body(spec, 'Body', operation.requestBody.content));
  }
  const errors = [];
  for (const [status, reference] of Object.entries(operation.responses)) {
    const response = resolve(spec, reference);
    if (reference.$ref) {
      errors.push([status, response.description]);
    } else {
      parts.push(...body(spec, 'Answer ' + status, response.content));
      if (!response.content) {
        parts.push(element('h4', {}, 'Answer ' + status + ', without a body'));
      }
    }
  }
  parts.push(element('h4', {}, 'Errors'), table(['status', 'when'], errors));
  if (method === 'get') {
    parts.push(tryIt(path, parameters, token));
  }
  return parts;
}

// details fills itself when it is opened for the first time.
function details(spec, path, method, operation, token) {
  const summary = element('summary', {},
    element('span', {class: 'method ' + method}, method.toUpperCase()),
    element('code', {}, path),
    element('span', {}, operation.summary),
    element('span', {class: 'role'}, operation['x-role']));
  const made = element('details', {id: operation.operationId}, summary);
  made.dataset.words = (method + ' ' + path + ' ' + operation.summary).toLowerCase();
  made.addEventListener('toggle', () => {
    if (made.open && made.childElementCount === 1) {
      made.append(...content(spec, path, method, operation, token));
    }
  });
  return made;
}

// show lists the operations of a document in an element. token() returns the token for requests or ''. opened is the id
// of the operation that is open. show returns a function that hides the operations without a word.
export function show(place, spec, token, opened) {
  place.replaceChildren(element('p', {class: 'intro'}, spec.info.description));
  for (const tag of spec.tags) {
    const section = element('section', {}, element('h2', {}, tag.name));
    for (const [path, item] of Object.entries(spec.paths)) {
      for (const method of methods) {
        if (item[method] && item[method].tags.includes(tag.name)) {
          section.append(details(spec, path, method, item[method], token));
        }
      }
    }
    place.append(section);
  }
  const wanted = opened && document.getElementById(opened);
  if (wanted) {
    wanted.open = true;
    wanted.scrollIntoView();
  }
  return (text) => {
    const word = text.trim().toLowerCase();
    for (const section of place.querySelectorAll('section')) {
      let left = 0;
      for (const d of section.querySelectorAll('details')) {
        d.hidden = !d.dataset.words.includes(word);
        left += d.hidden ? 0 : 1;
      }
      section.hidden = left === 0;
    }
  };
}

// load returns the OpenAPI document of this node.
export async function load() {
  const answer = await fetch('/api/v1/openapi.json', {credentials: 'omit'});
  if (!answer.ok) {
    throw new Error('openapi.json: ' + answer.status);
  }
  return answer.json();
}
