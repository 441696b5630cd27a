// The stream of events: an event repeats the requests of the page. fetch reads the stream, since an EventSource cannot
// send the token in a header. The stream is closed while the page is hidden, and at the end of the session.
import { authorized, refresh, session, watchers } from './api.js';

const again = 2000; // ms before the stream is reopened
const together = 100; // ms within which events cause a single request

let last = ''; // the latest received event
let due = 0;

function happened() {
  if (!due) due = setTimeout(() => {
    due = 0;
    refresh();
  }, together);
}

// read reads the lines of a stream until it ends. It stores the id of the latest event, so that the next stream
// continues after it.
async function read(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith('id:')) last = line.slice(3).trim();
      if (line.startsWith('data:')) happened();
    }
  }
}

// seen resolves once the page can be seen.
const seen = () => new Promise((resolve) => {
  if (!document.hidden) resolve();
  else document.addEventListener('visibilitychange', resolve, { once: true });
});

export async function follow() {
  for (;;) {
    await seen();
    if (!session.refused && session.lastAnswer) {
      const stop = new AbortController();
      const leave = () => { if (document.hidden || session.refused) stop.abort(); };
      document.addEventListener('visibilitychange', leave);
      watchers.add(leave);
      try {
        const answer = await fetch('/api/v1/events', {
          signal: stop.signal,
          headers: authorized({ Accept: 'text/event-stream', ...(last && { 'Last-Event-ID': last }) }),
        });
        if (answer.ok) await read(answer.body);
      } catch {
        // The node does not answer. The next request of a view shows that.
      }
      document.removeEventListener('visibilitychange', leave);
      watchers.delete(leave);
    }
    await new Promise((resolve) => setTimeout(resolve, again));
  }
}
