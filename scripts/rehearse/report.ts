/** What the rehearsal found: what was acknowledged against what is there, jobs, lists on pages, and times. */
import type { Load } from "./load.ts";
import type { Servers } from "./servers.ts";
import { until } from "./until.ts";

/** In milliseconds by `performance.now()`. */
export interface Times {
  killed: number;
  promoted: number;
  /** When every page heard of changes again. */
  live: number;
  ended: number;
}

export interface Result {
  lines: [what: string, found: string][];
  /** What must not be. */
  wrong: string[];
}

const milliseconds = (value: number) => `${Math.round(value)} ms`;

export async function examine(servers: Servers, load: Load, times: Times): Promise<Result> {
  const { acknowledged, unanswered, watchers } = load;
  const client = await servers.connect();
  const keys = async (table: string) =>
    (await client.query(`select key from public.${table}`)).rows.map(({ key }) => key as string);
  const queue = async () =>
    (
      await client.query(
        "select count(*)::int as left, count(*) filter (where attempts >= max_attempts and locked_at is null)::int as dead " +
          "from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id " +
          "where t.identifier = 'procedure'",
      )
    ).rows[0] as { left: number; dead: number };
  try {
    await until(async () => {
      const { left, dead } = await queue();
      return left === dead;
    });
    const jobsDone = performance.now();
    const { dead } = await queue();
    const marks = await keys("marks");
    const traces = await keys("traces");
    const written = new Set(marks);
    const totals = new Map<object, number>();
    for (const watcher of watchers) totals.set(watcher, watcher.own.filter((key) => written.has(key)).length);
    await until(() => watchers.every((watcher) => watcher.total === totals.get(watcher))).catch(() => {});
    const converged = performance.now();

    const traced = new Set(traces);
    const lost = acknowledged.filter(({ key }) => !written.has(key)).length;
    const carriedOut = unanswered.filter((key) => written.has(key)).length;
    const wrong = (count: number, what: string) => (count > 0 ? [`${count} ${what}`] : []);
    const stale = watchers.filter((watcher) => watcher.total !== totals.get(watcher)).length;
    const firstAfter = Math.min(...acknowledged.map(({ at }) => at).filter((at) => at > times.promoted));
    return {
      lines: [
        ["acknowledged mutations", `${acknowledged.length}, lost ${lost}`],
        ["mutations without an answer", `${unanswered.length}, of which ${carriedOut} were carried out`],
        ["jobs", `${marks.length} scheduled, ${traces.length} run, ${dead} given up`],
        ["pages that watch", `${watchers.length}, of which ${stale} show something old`],
        ["kill → standby promoted", milliseconds(times.promoted - times.killed)],
        ["kill → first mutation acknowledged", milliseconds(firstAfter - times.killed)],
        ["kill → every page live again", milliseconds(times.live - times.killed)],
        ["longest pause between acknowledgements", milliseconds(longestGap(acknowledged.map(({ at }) => at)))],
        ["end of load → every job run", milliseconds(jobsDone - times.ended)],
        ["end of load → every page right", milliseconds(converged - times.ended)],
      ],
      wrong: [
        ...wrong(lost, "acknowledged mutations are lost"),
        ...wrong(marks.length - written.size, "mutations were carried out twice"),
        ...wrong(marks.filter((key) => !traced.has(key)).length, "jobs did not run"),
        ...wrong(traces.length - traced.size, "jobs ran twice"),
        ...wrong(stale, "pages do not show what is there"),
      ],
    };
  } finally {
    await client.end();
  }
}

function longestGap(times: number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.max(...sorted.map((time, index) => time - (sorted[index - 1] ?? time)));
}

export function print({ lines, wrong }: Result): void {
  const width = Math.max(...lines.map(([what]) => what.length));
  for (const [what, found] of lines) process.stdout.write(`${what.padEnd(width)}  ${found}\n`);
  for (const line of wrong) process.stdout.write(`WRONG: ${line}\n`);
}
