// Rates of answers, from the flows that the node counts in buckets of five minutes.
import { useList, useLive } from '../api.js';
import { useMinute } from '../parts.js';

const bucket = 300000; // ms

// useRates returns the mean number of load-balanced answers per second since the begin of the previous bucket: by name
// and by region of the backends, and the length of this time in s. It returns undefined before the first answer.
export function useRates() {
  const start = Math.floor((useMinute() - 1) / bucket) * bucket - bucket;
  const since = new Date(start).toISOString().slice(0, 19) + 'Z';
  const { data } = useList(`/v1/routing/flows?start_time=${since}`, 'flows', { lasting: true });
  const uptime = useLive('/health').data?.uptime_seconds;
  if (!data || uptime === undefined) return undefined;
  const seconds = Math.max(1, Math.min((Date.parse(data.generated_at) - start) / 1000, uptime));
  const names = {}, regions = {};
  for (const f of data.flows) {
    names[f.domain] = (names[f.domain] || 0) + f.request_count / seconds;
    regions[f.destination_region] = (regions[f.destination_region] || 0) + f.request_count / seconds;
  }
  return { names, regions, seconds };
}
