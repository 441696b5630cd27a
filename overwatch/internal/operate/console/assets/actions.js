// The actions of an operator for a backend.
import { html, useState } from './dom.js';
import { Refusal, request } from './api.js';
import { Change, Dialog } from './dialog.js';

const pathOf = (b) => `/v1/overwatch/backends/${[b.service, b.address, b.port].map(encodeURIComponent).join('/')}`;
const drainOf = (b) => `/v1/servers/${encodeURIComponent(b.id)}/drain`;
const allPortsOf = (b) => `/v1/overrides/${[b.service, b.address].map(encodeURIComponent).join('/')}`;

const Reason = ({ needed }) => html`
  <label>Reason <input
    name="reason"
    required=${needed}
    maxlength="200"
    autocomplete="off"
    placeholder=${needed ? 'for whoever looks later' : 'may be left out'}
  /></label>`;

const Until = () => html`
  <label>For how long <input
    name="expires_in"
    autocomplete="off"
    placeholder="until it is cleared, or 30m, 2h"
    pattern="([0-9.]+(s|m|h))+"
  /></label>`;

// given omits empty fields.
export const given = (fields) => Object.fromEntries(
  Object.entries(fields).filter(([, value]) => value !== '' && value !== undefined),
);

// ordersOf lists the actions for a backend: the description, the fields, and the request. takes contains the backend if
// the action removes it from answers. wide is the description of an action that turns out to affect all ports of the
// address.
function ordersOf(b) {
  const mark = (healthy) => ({
    fields: html`<${Reason} needed /><${Until} />`,
    takes: healthy ? null : { backends: [b.id], removed: true }, // also excluded from fallback answers
    send: (v, query) => request(pathOf(b) + '/override' + query, { method: 'POST', body: given({ healthy, ...v }) }),
  });
  return {
    Drain: b.drain ? null : {
      about: 'Its share falls to 0 in equal steps. Existing connections can finish.',
      takes: { backends: [b.id] },
      fields: html`
        <label>Over <input
          name="duration"
          autocomplete="off"
          placeholder="the TTL of the name, or 5m"
          pattern="([0-9.]+(s|m|h))+"
        /></label>
        <${Reason} />`,
      send: (v, query) => request(drainOf(b) + query, { method: 'POST', body: given(v) }),
    },
    Undrain: b.drain && {
      about: 'Its full share returns immediately.',
      takes: null,
      fields: null,
      send: () => request(drainOf(b), { method: 'DELETE' }),
    },
    'Mark unhealthy': {
      about: 'It is in no answers, with any result of checks.',
      ...mark(false),
    },
    'Mark healthy': {
      about: 'It can be in answers, with any result of checks.',
      ...mark(true),
    },
    'Clear override': b.override && {
      about: 'Checks and agent reports decide its status.',
      wide: `The override is for all ports of ${b.address}. It ends for all these ports, and checks decide.`,
      takes: null,
      fields: null,
      send: (_, __, wide) => request(wide ? allPortsOf(b) : pathOf(b) + '/override', { method: 'DELETE' }),
    },
    Weight: {
      about: `Its declared weight is ${b.weight}. With weight 0, it is in answers only if no other backend can be.`,
      weight: true,
      fields: html`<${Reason} needed /><${Until} />`,
      send: (v, query) => request(pathOf(b) + '/weight' + query, {
        method: 'PUT',
        body: given({ ...v, weight: Number(v.weight) }),
      }),
    },
    'Declared weight': b.weight_override && {
      about: `Its weight returns to the declared weight, ${b.weight}.`,
      takes: null,
      fields: null,
      send: () => request(pathOf(b) + '/weight', { method: 'DELETE' }),
    },
  };
}

function Order({ b, name, order, close }) {
  const [weight, setWeight] = useState(String(b.weight_override?.weight ?? b.weight));
  const [wide, widen] = useState(false);
  const takes = order.weight
    ? (weight.trim() === '0' ? { backends: [b.id], zero_weight: true } : null)
    : order.takes;
  // Without an override for this port, the operator must confirm a change for all ports.
  const send = async (values, query) => {
    try {
      return await order.send(values, query, wide);
    } catch (error) {
      if (!order.wide || wide || error.status !== 404) throw error;
      widen(true);
      throw new Refusal(404, 'No change was made: the override is not for this port only.');
    }
  };
  const fields = html`
    <p>${wide ? order.wide : order.about}</p>
    ${order.weight && html`
      <label>Weight <input
        name="weight"
        type="number"
        min="0"
        max="1000"
        required
        value=${weight}
        onInput=${(e) => setWeight(e.target.value)}
      /></label>`}
    ${order.fields}`;
  return html`
    <${Change}
      verb=${name}
      danger=${name === 'Mark unhealthy'}
      fields=${fields}
      takes=${takes}
      send=${send}
      close=${close}
    />`;
}

// Orders is the dialog of a backend.
export function Orders({ b, close }) {
  const orders = Object.entries(ordersOf(b)).filter(([, order]) => order);
  const [chosen, choose] = useState((orders.find(([name]) => name === 'Undrain') || orders[0])[0]);
  const [name, order] = orders.find(([n]) => n === chosen) || orders[0];
  return html`
    <${Dialog} title=${b.id} close=${close}>
      <div class="choice" role="group" aria-label="What to order">
        ${orders.map(([n]) => html`
          <button
            type="button"
            class="small"
            key=${n}
            aria-pressed=${n === name}
            onClick=${() => choose(n)}
          >${n}</button>`)}
      </div>
      <${Order} key=${name} b=${b} name=${name} order=${order} close=${close} />
    <//>`;
}
