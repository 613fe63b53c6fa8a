/** Home: what needs attention. Each number leads to what it counts. */
import { status } from "./acting.ts";
import { ask } from "./api.ts";
import { type Child, choice, choices, code, h, heading, later, plain, quiet, table } from "./dom.ts";
import { fresh } from "./state.ts";
import { number, time } from "./texts.ts";
import type { Act, MigrationFile, Run } from "./types.ts";
import { jobStates } from "./work.ts";

interface Finding {
  kind: "ok" | "advice" | "wrong";
  text: string;
}

export function home(): Child {
  const section = (id: string, title: string, ...children: Child[]) =>
    h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
  return [
    heading("Home"),
    section("queue", "Queue", later("the queue", queue)),
    section("runs", "Workflows", later("failed runs", failedRuns)),
    section("findings", "Findings", later("what svc doctor finds", doctor)),
    section("migrations", "Migrations", later("the migrations", migrations)),
    section(
      "acts",
      "Acts of operators",
      later("the acts", async () => acts((await status()).acts)),
    ),
  ];
}

async function queue(): Promise<Child> {
  const { counts } = await ask<{ counts: Record<string, string> }>("queue", { state: null });
  return choices(
    ...jobStates.map((one) =>
      choice(fresh({ panel: "jobs", state: one }), false, h("strong", {}, number(counts[one] ?? 0)), ` ${one}`),
    ),
  );
}

async function failedRuns(): Promise<Child> {
  const input = { status: "failed", name: null, before: null };
  const { runs, next } = await ask<{ runs: Run[]; next: string | null }>("runs", input);
  if (runs.length === 0) return quiet("No run is failed.");
  const text = `${number(runs.length)}${next ? " or more" : ""} failed, the latest is ${runs[0]?.name}`;
  return plain(h("a", { href: fresh({ panel: "workflows", status: "failed" }), class: "no" }, text));
}

async function migrations(): Promise<Child> {
  const files = await ask<MigrationFile[]>("migrations");
  const open = files.filter(({ state }) => state !== "applied").length;
  const text = open > 0 ? `${number(open)} not applied` : `Everything is applied: ${number(files.length)} files`;
  return plain(h("a", { href: fresh({ panel: "migrations" }), class: open > 0 ? "no" : null }, text));
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
    found.length > 0 ? list(found) : quiet("svc doctor finds nothing wrong."),
    h("details", {}, h("summary", {}, `${passed.length} checks passed`), list(passed)),
  ];
}

function acts(lines: readonly Act[]): Child {
  if (lines.length === 0) {
    return quiet("None yet. Each act of Studio, svc jobs and svc workflows leaves one line here.");
  }
  const rows = lines.map(({ at, act, arguments: its, outcome, login, via }) => [
    time(at),
    act,
    code(JSON.stringify(its)),
    outcome,
    `${login}, ${via}`,
  ]);
  return table("The latest acts", ["At", "Act", "Arguments", "Outcome", "By"], rows);
}
