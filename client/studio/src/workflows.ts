/** Workflows: runs, and one run with its steps in the order in which they were recorded. */
import { actButton, perform, status } from "./acting.ts";
import { ask } from "./api.ts";
import {
  bar,
  type Child,
  choice,
  choices,
  code,
  controls,
  copyButton,
  field,
  h,
  heading,
  later,
  link,
  plain,
  problem,
  quiet,
  table,
} from "./dom.ts";
import { fresh, href, type State } from "./state.ts";
import { command, lasting, time } from "./texts.ts";
import type { Run, RunDetails, Step } from "./types.ts";
import { userLink } from "./user-link.ts";

/** That Studio sends of a run. */
const mostSteps = 500;

const states = ["pending", "running", "completed", "failed", "cancelled"] as const;

export function workflows(state: State): Child {
  const title = heading(state.run ? "Run of a workflow" : "Workflows");
  return [title, state.run ? later("the run", () => show(state.run as string)) : later("the runs", () => list(state))];
}

async function list(state: State): Promise<Child> {
  const status = states.find((one) => one === state.status) ?? null;
  const input = { status, name: state.name || null, before: state.before ?? null };
  const { runs, next } = await ask<{ runs: Run[]; next: string | null }>("runs", input);
  const choose = (one: string | null, label: string) =>
    choice(href({ status: one, before: null }), one === status, label);
  const head = ["Run", "Status", "Name", "As", "Failures since the last step", "Created at", "Finished at", "Error"];
  const rows = runs.map((run) => [
    link(fresh({ panel: "workflows", run: run.id }), run.id.slice(0, 8)),
    statusOf(run),
    link(href({ name: run.name, before: null }), run.name),
    callerOf(run),
    run.attempts,
    time(run.created_at),
    time(run.finished_at),
    run.error || "–",
  ]);
  return [
    choices(choose(null, "all"), ...states.map((one) => choose(one, one))),
    state.name && plain(`Only ${state.name}. `, link(href({ name: null, before: null }), "All names")),
    rows.length > 0 ? table("Runs of workflows", head, rows) : nothing(status),
    controls(
      state.before && link(href({ before: null }), "Newest"),
      next && link(href({ before: next }), "Older"),
      copyButton("Copy as command", command("workflows", "list", ...(status ? ["--status", status] : []))),
    ),
  ];
}

const nothing = (status: string | null): Child =>
  quiet(
    status ? `No run is ${status}.` : "No run yet. A handler starts one with ",
    !status && code("ctx.workflows.start(…)"),
    !status && ". Each of its steps is recorded, so it continues after a crash.",
  );

const callerOf = ({ caller }: Run): Child => (["system", "anonymous"].includes(caller) ? caller : userLink(caller));

const statusOf = ({ status, wait_marker }: Run): Child => {
  const waits = status === "pending" && wait_marker ? ` (${wait_marker.replace(/^wait:/, "waits for ")})` : "";
  const tone = status === "completed" ? "yes" : status === "failed" ? "no" : null;
  return h("span", { class: tone }, status + waits);
};

async function show(id: string): Promise<Child> {
  const [run, { mayAct }] = await Promise.all([ask<RunDetails>("run", { id }), status()]);
  const isOver = ["completed", "failed", "cancelled"].includes(run.status);
  const mayRetry = mayAct && isOver && run.status !== "completed";
  const asUser = run.user_id && { as: run.user_id };
  const row = { panel: "data", table: "svc.workflow_runs", row: JSON.stringify([id]), ...asUser };
  return [
    h(
      "dl",
      { class: "facts" },
      ...field("Id", id),
      ...field("Name", `${run.name}, version ${run.version}`),
      ...field("Status", statusOf(run)),
      ...field("As", callerOf(run)),
      ...field("Failures since the last step", run.attempts),
      ...field("Created at", time(run.created_at)),
      ...field(isOver ? "Finished at" : "Wakes at", time(isOver ? run.finished_at : run.wake_at)),
      ...(run.error ? field("Error", run.error) : []),
      ...(run.hint ? field("Hint", run.hint) : []),
    ),
    asUser
      ? plain(link(fresh(row), "Arguments and result, as its user sees them"))
      : quiet("Arguments and result: ", code(command("workflows", "show", id))),
    h("h2", {}, "Steps"),
    run.steps.length > 0
      ? table(
          "Steps",
          [
            "Position",
            "Step",
            "Kind",
            "Outcome",
            "Attempts",
            "Began at",
            "When",
            "Took",
            ...(mayRetry ? ["Acts"] : []),
          ],
          run.steps.map((step) => [...stepCells(step, run), ...(mayRetry ? [retryFrom(run, step)] : [])]),
        )
      : quiet("No step has been recorded yet."),
    run.steps.length === mostSteps && quiet(`These are the last ${mostSteps}.`),
    run.events.length > 0 && [
      h("h2", {}, "Events"),
      table(
        "Events",
        ["Event", "Sent at", "Ended the wait"],
        run.events.map(({ name, created_at, taken_by }) => [name, time(created_at), taken_by ?? "none yet"]),
      ),
    ],
    mayAct && acts(run, isOver),
    plain(copyButton("Copy as command", command("workflows", "show", id))),
  ];
}

/** A bar shows when the step ran within the whole run; its text says the same. */
function stepCells(step: Step, run: RunDetails): Child[] {
  const outcome = step.failed ? "failed" : step.timed_out ? "timed out" : step.is_done ? "done" : "waits";
  const end = (at: string | null) => new Date(at ?? Date.now()).getTime();
  const [from, until] = [end(run.created_at), end(run.finished_at)];
  const part = (at: number) => (at - from) / (until - from);
  const began = end(step.started_at);
  return [
    step.position,
    step.name,
    step.kind,
    h("span", { class: step.failed ? "no" : step.is_done ? "yes" : null }, outcome),
    step.attempts ?? "–",
    time(step.started_at),
    bar(part(began), part(end(step.finished_at))),
    step.finished_at ? lasting(end(step.finished_at) - began) : step.due_at ? `until ${time(step.due_at)}` : "–",
  ];
}

const retryFrom = ({ id }: RunDetails, { position, name }: Step): Child =>
  actButton(
    "Retry from here",
    { act: "act_retry_workflow", run: id, from: position },
    { on: `${position}, ${name}`, isFinal: true },
  );

function acts({ id, status }: RunDetails, isOver: boolean): Child {
  if (status === "completed") return null;
  if (isOver) return plain(actButton("Retry", { act: "act_retry_workflow", run: id, from: null }, { on: "the run" }));
  const event = h("input", { id: "event", type: "text", required: true, spellcheck: "false" });
  const content = h("input", { id: "content", type: "text", value: "null", spellcheck: "false" });
  const said = h("span", { role: "status" });
  const send = h("button", {}, "Send");
  const submit = async (submitted: SubmitEvent) => {
    submitted.preventDefault();
    send.disabled = true;
    try {
      const input = { act: "act_signal_workflow", run: id, event: event.value, content: JSON.parse(content.value) };
      await perform(input);
    } catch (error) {
      send.disabled = false;
      said.replaceChildren(problem(error));
    }
  };
  return [
    plain(actButton("Cancel", { act: "act_cancel_workflow", run: id }, { on: "the run", isFinal: true })),
    h(
      "form",
      { onsubmit: submit },
      h("label", { for: "event" }, "Send an event"),
      event,
      h("label", { for: "content" }, "with the JSON"),
      content,
      send,
      said,
    ),
  ];
}
