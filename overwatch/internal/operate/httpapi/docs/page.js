// The page of a node without a console.
import {load, show} from './docs.js';

const place = document.getElementById('operations');
const bar = document.getElementById('bar');

// Both fields count as they are typed: there is nothing to submit.
bar.addEventListener('submit', (event) => event.preventDefault());
load().then((spec) => {
  const find = show(place, spec, () => document.getElementById('token').value, location.hash.slice(1));
  document.getElementById('find').addEventListener('input', (event) => find(event.target.value));
}).catch((error) => {
  const line = document.createElement('p');
  line.textContent = String(error);
  place.replaceChildren(line);
});
