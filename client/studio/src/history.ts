/** Finished jobs, which the queue has removed. */
import { ask } from "./api.ts";
import { type Child, choice, choices, controls, copyButton, h, link, plain, quiet, table } from "./dom.ts";
import { href, type State } from "./state.ts";
import { command, lasting, time } from "./texts.ts";
import type { FinishedJob } from "./types.ts";

const outcomes = ["done", "dead"] as const;
/** In milliseconds. */
const lengths = [100, 1_000, 10_000];

/** The state of the panel Jobs that shows them. */
export const finished = "finished";
/** The parts of the address that are theirs. */
export const noFilter = { name: null, outcome: null, least: null, before: null };

export async function history(state: State): Promise<Child> {
  const outcome = outcomes.find((one) => one === state.outcome) ?? null;
  const least = lengths.find((one) => one === Number(state.least)) ?? null;
  const before = /^\d{1,18}$/.test(state.before ?? "") ? (state.before ?? null) : null;
  const name = state.name?.slice(0, 200) || null;
  const { jobs, next } = await ask<{ jobs: FinishedJob[]; next: string | null }>("history", {
    name,
    outcome,
    least,
    before,
  });
  const head = ["Job", "Outcome", "Name", "Attempts", "Started at", "Waited", "Took"];
  const rows = jobs.map((job) => [
    job.job,
    h("span", { class: job.outcome === "done" ? "yes" : "no" }, job.outcome),
    link(href({ name: job.name, before: null }), job.name),
    job.attempts,
    time(job.started_at),
    lasting(new Date(job.started_at).getTime() - new Date(job.run_at).getTime()),
    lasting(job.ms),
  ]);
  const isFiltered = [outcome, least, name, before].some((one) => one !== null);
  const options = Object.entries({ name, outcome, least }).flatMap(([key, value]) =>
    value ? [`--${key}`, String(value)] : [],
  );
  return [
    choicesOf("outcome", outcome, [[null, "done and dead"], ...outcomes.map((one) => [one, one] as const)]),
    choicesOf("least", least === null ? null : String(least), [
      [null, "of any length"],
      ...lengths.map((one) => [String(one), `${lasting(one)} or longer`] as const),
    ]),
    name && plain(`Only ${name}. `, link(href({ name: null, before: null }), "All names")),
    rows.length > 0
      ? table("Jobs that finished", head, rows)
      : quiet(
          isFiltered
            ? "No finished job is like this."
            : "No job has finished yet. Workers add finished jobs once a second.",
        ),
    controls(
      before && link(href({ before: null }), "Newest"),
      next && link(href({ before: next }), "Older"),
      copyButton("Copy as command", command("jobs", "history", ...options)),
    ),
  ];
}

const choicesOf = (part: string, chosen: string | null, all: readonly (readonly [string | null, string])[]): Child =>
  choices(...all.map(([value, label]) => choice(href({ [part]: value, before: null }), value === chosen, label)));
