// The stages of key rollovers and signing transitions, and the dialog that begins a key rollover.
import { html, useEffect, useState } from '../dom.js';
import { mayOperate, request } from '../api.js';
import { Change, Dialog } from '../dialog.js';
import { clock } from '../format.js';
import { Status } from '../parts.js';

export const stages = {
  key: {
    signing: 'the new key signs',
    published: 'the new key is published',
    offered: 'the parent must have its DS record',
    alone: 'the old keys are being removed',
    done: 'the old keys were removed',
  },
  unsigned: {
    offered: 'still signed; the parent must not have a DS record',
    unsigned: 'the zone is unsigned; caches still have signed answers',
    done: 'the zone stays unsigned',
  },
  signed: {
    published: 'signed; the parent needs no change',
    offered: 'the parent must have the DS records of its keys',
    done: 'signed',
  },
};

// Schedule lists the next stages of a rollover. text describes each stage.
export const Schedule = ({ r, text }) => r.schedule.map((s) => html`
  <li key=${s.stage}>
    <${Status} tone="plain" word=${s.stage} />
    ${' '}<span>
      not before ${clock(s.not_before)}: ${text[s.stage]}
      ${s.waits_for && html`<span class="note">It may wait for ${s.waits_for}</span>`}
    </span>
  </li>`);

// Begin requests the planned stages from the node, and shows them for confirmation.
function Begin({ zone, close }) {
  const [dry, setDry] = useState(null);
  const begin = (query) => request('/v1/dnssec/rollover' + query, { method: 'POST', body: { zone } });
  useEffect(() => {
    begin('?dry_run=true').then((roll) => setDry({ roll }), (error) => setDry({ refused: error.message }));
  }, [zone]);
  const fields = dry?.roll && html`
    <p>The node generates a new key. The rollover has these stages:</p>
    <ol class="stages"><${Schedule} r=${dry.roll} text=${stages.key} /></ol>`;
  return html`
    <${Dialog} title=${`Roll the key of ${zone}`} close=${close}>
      ${!dry
        ? html`<p class="dim">Loading</p>`
        : dry.refused
          ? html`<p class="notice bad" role="alert">${dry.refused}</p>`
          : html`
            <${Change}
              verb="Begin the rollover"
              fields=${fields}
              takes=${null}
              send=${() => begin('')}
              close=${close}
            />`}
    <//>`;
}

// RollKey is a button that begins a key rollover of a zone.
export function RollKey({ zone }) {
  const [opened, open] = useState(false);
  return mayOperate() && html`
    <button type="button" class="small" aria-label=${`Roll the key of ${zone}`} onClick=${() => open(true)}>
      Roll the key
    </button>
    ${opened && html`<${Begin} zone=${zone} close=${() => open(false)} />`}`;
}
