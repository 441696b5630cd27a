// This page shows the OpenAPI document of this node, and sends its GET requests. All text of the document and of
// answers is set as text, never as HTML.
'use strict';

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

// tryIt makes a form that sends a GET request to this node and shows the answer.
function tryIt(path, parameters) {
  const inputs = parameters.filter((p) => p.in !== 'header').map((p) => {
    const input = element('input', {type: 'text', placeholder: p.example === undefined ? '' : String(p.example)});
    return {parameter: p, input};
  });
  const output = element('pre', {hidden: ''});
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
      const token = document.getElementById('token').value;
      const answer = await fetch(target + (search ? '?' + search : ''), {
        headers: token ? {Authorization: 'Bearer ' + token} : {},
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

function content(spec, path, method, operation) {
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
    parts.push(tryIt(path, parameters));
  }
  return parts;
}

// details fills itself when it is opened for the first time.
function details(spec, path, method, operation) {
  const summary = element('summary', {},
    element('span', {class: 'method ' + method}, method.toUpperCase()),
    element('code', {}, path),
    element('span', {}, operation.summary),
    element('span', {class: 'role'}, operation['x-role']));
  const made = element('details', {id: operation.operationId}, summary);
  made.dataset.words = (method + ' ' + path + ' ' + operation.summary).toLowerCase();
  made.addEventListener('toggle', () => {
    if (made.open && made.childElementCount === 1) {
      made.append(...content(spec, path, method, operation));
    }
  });
  return made;
}

function show(spec) {
  const main = document.getElementById('operations');
  main.replaceChildren(element('p', {class: 'intro'}, spec.info.description));
  for (const tag of spec.tags) {
    const section = element('section', {}, element('h2', {}, tag.name));
    for (const [path, item] of Object.entries(spec.paths)) {
      for (const method of methods) {
        if (item[method] && item[method].tags.includes(tag.name)) {
          section.append(details(spec, path, method, item[method]));
        }
      }
    }
    main.append(section);
  }
  // Both fields count as they are typed: there is nothing to submit.
  document.getElementById('bar').addEventListener('submit', (event) => event.preventDefault());
  const find = document.getElementById('find');
  find.addEventListener('input', () => {
    const word = find.value.trim().toLowerCase();
    for (const section of main.querySelectorAll('section')) {
      let left = 0;
      for (const d of section.querySelectorAll('details')) {
        d.hidden = !d.dataset.words.includes(word);
        left += d.hidden ? 0 : 1;
      }
      section.hidden = left === 0;
    }
  });
  const wanted = document.getElementById(location.hash.slice(1));
  if (wanted) {
    wanted.open = true;
    wanted.scrollIntoView();
  }
}

async function load() {
  const answer = await fetch('/api/v1/openapi.json', {credentials: 'omit'});
  if (!answer.ok) {
    throw new Error('openapi.json: ' + answer.status);
  }
  show(await answer.json());
}

load().catch((error) => document.getElementById('operations').replaceChildren(element('p', {}, String(error))));
