/**
 * Interleaved measurement: each contestant works for a short slice, in turn and several times, so that whatever else
 * the machine does hits all of them. Prints medians and ratios; absolute figures mean little on a shared machine. On a busy one
 * a stall of either side counts against whoever takes more turns: "calm" compares the best tenth of short windows.
 */
import autocannon from "autocannon";
import type { Contestant } from "./process.ts";

export interface Runner {
  name: string;
  process: Contestant;
  path: string;
  headers: Record<string, string>;
  /** The next request's body; without it, it is a GET. */
  body?(): string;
  /** The next request, where each has headers of its own, such as those of another user. (Default: as above) */
  next?(): { headers: Record<string, string>; body: string };
}

export interface Result {
  name: string;
  /** Per second, median of the slices. */
  rate: number;
  /** Per second in the best tenth of short windows, in which nothing else on the machine got in the way. */
  calm: number;
  /** CPU of the contestant per operation, in microseconds, median of the slices. */
  cpu: number;
  /** CPU of PostgreSQL per operation, in microseconds, median of the slices; not a number unless it was asked for. */
  database: number;
  /** In milliseconds, median of the slices. */
  p50: number;
  p99: number;
}

interface Options {
  /** (Default: 5) */
  rounds?: number;
  /** Length of a slice in seconds. (Default: 3) */
  seconds?: number;
  /** Ends a slice after so many requests instead, for what can be done only so often. (Default: by time) */
  amount?: number;
  /** (Default: 16) */
  connections?: number;
  /** CPU time that the database has used so far, in microseconds. (Default: it is not measured) */
  databaseCpu?(): number;
}

/** What one slice gave. */
type Slice = Omit<Result, "name" | "calm"> & { windows: number[] };

/** A window is at least so long, in milliseconds, and has so many answers. */
const windowLength = 20;
const windowAnswers = 20;

/** Lets the runners take turns. @throws Error as soon as one answer is not 200 */
export async function interleave(runners: Runner[], options: Options = {}): Promise<Result[]> {
  const { rounds = 5 } = options;
  const slices = new Map(runners.map(({ name }) => [name, [] as Slice[]]));
  for (const runner of runners) await slice(runner, { ...options, seconds: 2 }); // warm up: also connections, keys and plans
  for (let round = 0; round < rounds; round++) {
    for (const runner of runners) slices.get(runner.name)?.push(await slice(runner, options));
  }
  return [...slices].map(([name, all]) => ({
    name,
    rate: median(all.map((one) => one.rate)),
    calm: quantile(
      all.flatMap((one) => one.windows),
      0.9,
    ),
    cpu: median(all.map((one) => one.cpu)),
    database: median(all.map((one) => one.database)),
    p50: median(all.map((one) => one.p50)),
    p99: median(all.map((one) => one.p99)),
  }));
}

async function slice(runner: Runner, options: Options): Promise<Slice> {
  const { seconds = 3, connections = 16, amount, databaseCpu = () => Number.NaN } = options;
  const before = runner.process.cpu();
  const databaseBefore = databaseCpu();
  const start = performance.now();
  let end = start;
  let opened = { at: start, answers: 0 };
  const windows: number[] = [];
  const { body, next = body && (() => ({ headers: {}, body: body() })) } = runner;
  const load: autocannon.Options = {
    url: `${runner.process.url}${runner.path}`,
    method: next ? "POST" : "GET",
    headers: { "content-type": "application/json", ...runner.headers },
    connections,
    ...(amount ? { amount } : { duration: seconds }),
    ...(next && { requests: [{ setupRequest: (request) => merged(request, next()) }] }),
  };
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(load, (error, finished) => (error ? reject(error) : resolve(finished)));
    // autocannon itself sees only once a second that the amount is done.
    instance.on("response", () => {
      end = performance.now();
      opened.answers++;
      if (end - opened.at < windowLength || opened.answers < windowAnswers) return;
      windows.push((opened.answers / (end - opened.at)) * 1000);
      opened = { at: end, answers: 0 };
    });
  });
  const done = result["2xx"];
  if (result.non2xx > 0 || result.errors > 0 || done === 0) {
    throw new Error(`${runner.name}: ${done} good, ${result.non2xx} refused, ${result.errors} broken`);
  }
  return {
    rate: done / ((end - start) / 1000),
    cpu: (runner.process.cpu() - before) / done,
    database: (databaseCpu() - databaseBefore) / done,
    p50: result.latency.p50,
    p99: result.latency.p99,
    windows,
  };
}

const merged = (request: autocannon.Request, { headers, body }: { headers: object; body: string }) => ({
  ...request,
  headers: { ...request.headers, ...headers },
  body,
});

/**
 * Lets calls take turns one by one, which compares latencies: autocannon counts in whole milliseconds.
 *
 * @returns the median of each, in milliseconds, in the order given
 */
export async function alternate(calls: (() => Promise<unknown>)[], rounds: number): Promise<number[]> {
  const taken = calls.map((): number[] => []);
  const warmUp = Math.ceil(Math.min(10, rounds / 5));
  for (let round = -warmUp; round < rounds; round++) {
    for (const [index, call] of calls.entries()) {
      const start = performance.now();
      await call();
      if (round >= 0) taken[index]?.push(performance.now() - start);
    }
  }
  return taken.map(median);
}

export const median = (values: number[]): number => quantile(values, 0.5);

function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}

/** One line per contestant; ratios are to the last one, the peer. */
export function report(title: string, results: Result[]): void {
  const peer = results.at(-1);
  console.info(`\n${title}`);
  for (const { name, rate, calm, cpu, p50, p99 } of results) {
    const ratio = peer ? rate / peer.rate : Number.NaN;
    const calmRatio = peer ? calm / peer.calm : Number.NaN;
    const cpuRatio = peer ? cpu / peer.cpu : Number.NaN;
    console.info(
      `  ${name.padEnd(16)} ${rate.toFixed(0).padStart(7)}/s  ${ratio.toFixed(2)}x, calm ${calmRatio.toFixed(2)}x` +
        `   CPU ${cpu.toFixed(0).padStart(4)} us  ${cpuRatio.toFixed(2)}x   p50 ${p50} ms  p99 ${p99} ms`,
    );
  }
}

/** One line per contestant, with the CPU of each side apart; then the first one beside each of the others. */
export function reportBeside(title: string, results: Result[]): void {
  console.info(`\n${title}`);
  const whole = ({ cpu, database }: Result) => cpu + database;
  for (const one of results) {
    const { name, rate, cpu, database, p50, p99 } = one;
    console.info(
      `  ${name.padEnd(16)} ${rate.toFixed(0).padStart(7)}/s   CPU in us: node ${cpu.toFixed(0).padStart(4)}, database ` +
        `${database.toFixed(0).padStart(4)}, both ${whole(one).toFixed(0).padStart(4)}   p50 ${p50} ms  p99 ${p99} ms`,
    );
  }
  const [ours, ...peers] = results;
  if (!ours) return;
  for (const peer of peers) {
    const times = (a: number, b: number) => `${(a / b).toFixed(2)}x`;
    console.info(
      `  beside ${peer.name.padEnd(14)} calls ${times(ours.rate, peer.rate)}, calm ${times(ours.calm, peer.calm)}   calls per CPU: ` +
        `node ${times(peer.cpu, ours.cpu)}, database ${times(peer.database, ours.database)}, both ${times(whole(peer), whole(ours))}`,
    );
  }
}
