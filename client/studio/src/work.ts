/** Jobs and Crons. */
import { actButton, status } from "./acting.ts";
import { ask } from "./api.ts";
import { type Child, choice, choices, code, copyButton, h, heading, later, link, plain, quiet, table } from "./dom.ts";
import { finished, history, noFilter } from "./history.ts";
import { fresh, href, type State } from "./state.ts";
import { command, number, time } from "./texts.ts";
import type { Cron, Job } from "./types.ts";

export const jobStates = ["dead", "failing", "running", "due", "scheduled"] as const;

export function jobs(state: State): Child {
  const isPast = state.state === finished;
  const shown = isPast ? null : (jobStates.find((one) => one === state.state) ?? "dead");
  return [
    heading("Jobs"),
    later("the queue", () => queue(shown)),
    isPast && later("finished jobs", () => history(state)),
  ];
}

/** @param shown null: only the numbers, because finished jobs are shown below */
async function queue(shown: string | null): Promise<Child> {
  const [{ counts, jobs }, { mayAct }] = await Promise.all([
    ask<{ counts: Record<string, string>; jobs: Job[] }>("queue", { state: shown }),
    status(),
  ]);
  const links = jobStates.map((one) =>
    choice(href({ state: one, ...noFilter }), one === shown, h("strong", {}, number(counts[one] ?? 0)), ` ${one}`),
  );
  const past = choice(href({ state: finished }), shown === null, finished);
  const numbers = choices(...links, past);
  if (shown === null) return numbers;
  const head = ["Job", "Name", "As", "Attempts", "Runs at", "Last error", ...(mayAct ? ["Acts"] : [])];
  const rows = jobs.map((job) => [
    job.id,
    job.name ?? job.kind,
    job.caller ?? "–",
    `${job.attempts} of ${job.max_attempts}`,
    time(job.run_at),
    job.last_error ?? "–",
    ...(mayAct
      ? [
          [
            actButton("Retry", { act: "act_retry_job", id: job.id }, { on: `job ${job.id}` }),
            actButton("Remove", { act: "act_cancel_job", id: job.id }, { on: `job ${job.id}`, isFinal: true }),
          ],
        ]
      : []),
  ]);
  return [
    numbers,
    rows.length > 0
      ? table(`Jobs that are ${shown}`, head, rows)
      : quiet(`No job is ${shown}. ${meanings[shown] ?? ""}`),
    jobs.length === 50 && quiet("These are the 50 newest."),
    plain(copyButton("Copy as command", command("jobs", "list", "--state", shown))),
  ];
}

const meanings: Record<string, string> = {
  dead: "A job is dead when all its attempts have failed; then a person decides.",
  failing: "A job is failing while it has failed and waits for its next attempt.",
  running: "A job is running while a worker holds it.",
  due: "A job is due when a worker could take it now.",
  scheduled: "ctx.scheduler.runAfter and runAt schedule jobs for later.",
};

export const crons = (): Child => [heading("Crons"), later("the crons", listCrons)];

async function listCrons(): Promise<Child> {
  const [all, { mayAct }] = await Promise.all([ask<Cron[]>("crons"), status()]);
  if (all.length === 0) {
    return quiet("The application defines no cron: ", code("cron.name(…).daily(…).handler(…)"), " adds one.");
  }
  const head = ["Cron", "Schedule", "Procedure", "Last time", "Job", "State", ...(mayAct ? ["Acts"] : [])];
  const rows = all.map((cron) => [
    cron.name,
    code(cron.schedule),
    cron.procedure,
    cron.last_job === null ? "–" : time(cron.last_slot),
    cron.last_job ?? "–",
    cron.paused_at
      ? `paused since ${time(cron.paused_at)}`
      : cron.isRegistered
        ? "runs"
        : "no worker has registered it",
    ...(mayAct ? [cronActs(cron)] : []),
  ]);
  return [
    table("Crons", head, rows),
    plain(
      link(fresh({ panel: "jobs", state: "due" }), "Jobs that are due"),
      " ",
      copyButton("Copy as command", "npx svc crons list"),
    ),
  ];
}

function cronActs({ name: cron, paused_at, isRegistered }: Cron): Child[] {
  const runs = actButton("Run now", { act: "act_run_cron", cron }, { on: cron });
  if (!isRegistered) return [runs];
  const paused = paused_at === null;
  const label = paused ? "Pause" : "Resume";
  return [runs, actButton(label, { act: "act_pause_cron", cron, paused }, { on: cron })];
}
