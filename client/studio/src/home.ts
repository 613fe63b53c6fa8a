/** Home: what needs attention. */
import { ask } from "./api.ts";
import { type Child, h, later, number, problem, table, time } from "./dom.ts";
import { go, href, type State } from "./state.ts";
import type { Act, Job } from "./types.ts";

interface Finding {
  kind: "ok" | "advice" | "wrong";
  text: string;
}

const states = ["dead", "failing", "running", "due", "scheduled"] as const;

export function home(state: State): Child {
  const acting = ask<{ mayAct: boolean; acts: Act[] }>("status");
  const shown = states.find((one) => one === state.jobs) ?? "dead";
  const section = (id: string, title: string, ...children: Child[]) =>
    h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
  return [
    h("h1", { tabindex: -1 }, "Home"),
    section(
      "queue",
      "Queue",
      later("the queue", () => queue(shown, acting)),
    ),
    section("findings", "Findings", later("what svc doctor finds", doctor)),
    section("migrations", "Migrations", later("the migrations", migrations)),
    section("backups", "Backups", backups()),
    section(
      "acts",
      "Acts of operators",
      later("the acts", async () => acts((await acting).acts)),
    ),
  ];
}

async function queue(shown: string, acting: Promise<{ mayAct: boolean }>): Promise<Child> {
  const { counts, jobs } = await ask<{ counts: Record<string, string>; jobs: Job[] }>("queue", { state: shown });
  const { mayAct } = await acting;
  const links = states.map((one) =>
    h(
      "a",
      { href: href({ jobs: one }), class: "count", "aria-current": one === shown ? "true" : null },
      h("strong", {}, number(counts[one] ?? 0)),
      ` ${one}`,
    ),
  );
  const head = ["Job", "Name", "As", "Attempts", "Runs at", "Last error", ...(mayAct ? ["Acts"] : [])];
  const rows = jobs.map((job) => [
    job.id,
    job.name ?? job.kind,
    job.caller ?? "–",
    `${job.attempts} of ${job.max_attempts}`,
    time(job.run_at),
    job.last_error ?? "–",
    ...(mayAct ? [[act(job, "act_retry_job", "Retry"), act(job, "act_cancel_job", "Remove")]] : []),
  ]);
  return [
    h("p", { class: "counts" }, ...links),
    rows.length > 0 ? table(`Jobs that are ${shown}`, head, rows) : h("p", { class: "quiet" }, `No job is ${shown}.`),
  ];
}

function act(job: Job, name: string, label: string): HTMLElement {
  const button = h("button", { type: "button", class: "plain", "aria-label": `${label} job ${job.id}` }, label);
  button.addEventListener("click", async () => {
    try {
      await ask("act", { act: name, id: job.id });
      go(href({}));
    } catch (error) {
      button.replaceWith(problem(error));
    }
  });
  return button;
}

async function doctor(): Promise<Child> {
  const { findings } = await ask<{ findings: Finding[] }>("doctor");
  const found = findings.filter(({ kind }) => kind !== "ok").sort((a, b) => b.kind.localeCompare(a.kind));
  const list = (some: Finding[]) =>
    h(
      "ul",
      { class: "findings" },
      ...some.map(({ kind, text }) => h("li", { class: kind }, h("b", {}, kind), " ", text)),
    );
  const passed = findings.filter(({ kind }) => kind === "ok");
  return [
    found.length > 0 ? list(found) : h("p", { class: "quiet" }, "svc doctor finds nothing wrong."),
    h("details", {}, h("summary", {}, `${passed.length} checks passed`), list(passed)),
  ];
}

async function migrations(): Promise<Child> {
  const files = await ask<{ path: string; state: string; appliedAt: string | null }[]>("migrations");
  const open = files.filter(({ state }) => state !== "applied");
  const applied = files.filter(({ state }) => state === "applied");
  const last = applied.toSorted((a, b) => (b.appliedAt ?? "").localeCompare(a.appliedAt ?? "")).slice(0, 10);
  const rows = (some: typeof files) => some.map(({ state, path, appliedAt }) => [state, path, time(appliedAt)]);
  const head = ["State", "File", "Applied at"];
  return [
    open.length > 0
      ? table("Files that are not applied", head, rows(open))
      : h("p", { class: "quiet" }, `Everything is applied: ${files.length} files.`),
    h("details", {}, h("summary", {}, "Applied last"), table("Files that were applied last", head, rows(last))),
  ];
}

const backups = (): Child =>
  h(
    "p",
    { class: "quiet" },
    "svc keeps no list of backups. ",
    h("code", {}, "svc db backup FOLDER"),
    " takes one, ",
    h("code", {}, "svc db verify FOLDER --deep"),
    " restores it under another name and compares every table.",
  );

function acts(lines: readonly Act[]): Child {
  if (lines.length === 0) {
    return h("p", { class: "quiet" }, "None yet. Each act of Studio, svc jobs and svc workflows leaves one line here.");
  }
  const rows = lines.map(({ at, act, arguments: its, outcome, login, via }) => [
    time(at),
    act,
    h("code", {}, JSON.stringify(its)),
    outcome,
    `${login}, ${via}`,
  ]);
  return table("The latest acts", ["At", "Act", "Arguments", "Outcome", "By"], rows);
}
