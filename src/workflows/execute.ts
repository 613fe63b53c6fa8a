/**
 * Runs a workflow's handler until it waits or ends: claim → replay → release, in one of four ways. One transaction
 * contains the result, the job that continues the run, and the end of this job. If the worker is killed in a step, the
 * step has no checkpoint: `workers/rescue.ts` returns the job, and the next replay runs the step again.
 * Next hop: `replay.ts`; `sql/workflows/claim_run.sql` and the functions beside it.
 */
import type { Logger } from "pino";
import type { WorkflowDefinition, Workflows } from "../contract/workflow.ts";
import type { RunError } from "../contract/workflow-runs.ts";
import { type Identity, identityOfUser, systemIdentity } from "../postgres/identity.ts";
import { queryText } from "../postgres/refusals.ts";
import { jobAttributes } from "../telemetry/jobs.ts";
import { activeSpan, type Span } from "../telemetry/span.ts";
import { decodeValue, encodeValue, type Stored } from "./encoding.ts";
import { checked, detailOf, runError, StepError } from "./failure.ts";
import { replay } from "./replay.ts";
import type { ReplayOutcome } from "./replay-port.ts";
import { runCalls } from "./run-calls.ts";
import { lostOr, RunLostError, RunPort, type RunRuntime } from "./run-port.ts";
import { claimArguments, type NumberedStep, sizeOf, stepCache } from "./step-cache.ts";

/** The result of sql/workflows/claim_run.sql. */
interface Claim {
  name: string;
  version: number;
  args: Stored;
  fence: number;
  attempts: number;
  userId: string | null;
  system: boolean;
  msLeft: number | null;
  msOld: number;
  /** The steps that the worker did not know, or all. */
  steps: NumberedStep[];
  isAddition: boolean;
}

export interface ExecuteOptions {
  runtime: RunRuntime;
  workflows: Workflows;
  log: Logger;
  signal: AbortSignal;
  /** Sends the statement that stores the result and ends the job, with `svc.finish_job`. */
  finishWith(send: (job: string, worker: string) => Promise<unknown>): Promise<void>;
  /** Whether the worker's connections work. An error of a step counts only then. */
  isConnected(): Promise<boolean>;
}

/** In milliseconds after its creation: during this time a run or job that needs newer code is left to other workers. */
export const releaseTakes = 60 * 60_000;
/** In milliseconds: delay before another worker gets the run. */
const askOthersAfter = 5_000;
/** The same, while no worker has the run's version: after a release that was taken back there may be thousands of such runs. */
const askLaterAfter = (msOld: number) => Math.min(60_000, Math.max(askOthersAfter, msOld / 4));

/** Longer timers overflow. The deadline of such a run is checked when it is claimed again. */
const longestTimer = 2_000_000_000;

/** @throws errors of the database: the job is then retried, and the run continues from its last checkpoint */
export async function executeRun(runId: string, options: ExecuteOptions): Promise<void> {
  const { runtime } = options;
  const cache = stepCache(runtime);
  const known = cache.of(runId);
  const claimed = await claimRun(runId, known, options);
  if (!claimed) {
    cache.forget(runId);
    return tellFailed(runId, options);
  }
  const claim = { ...claimed, steps: cache.merge(runId, claimed.isAddition ? known : [], claimed.steps) };
  const log = options.log.child({ run: runId, workflow: claim.name });
  nameSpan(activeSpan(), claim, runId);
  const versions = options.workflows.get(claim.name) ?? [];
  const definition = versions.find(({ version }) => version === claim.version);
  try {
    const end = definition
      ? await runUntilBlocked(runId, claim, definition, { ...options, log })
      : await unknownWorkflow(claim, versions, { ...options, log });
    activeSpan()?.set({ "svc.workflow.ending": end.sql });
    await release(runId, claim.fence, end, options);
    if (end.sql === "end_run") cache.forget(runId);
    log.info({ ending: end.sql }, "run released");
  } catch (error) {
    if (!(error instanceof RunLostError)) throw error;
    log.info("run was cancelled, or given to another worker, while it was running");
  }
}

async function claimRun(
  runId: string,
  known: readonly NumberedStep[],
  { runtime, workflows }: ExecuteOptions,
): Promise<Claim | null> {
  const alone = async (): Promise<{ claim: Claim | null }> => {
    const claim = await queryText(runtime.systemPool, {
      name: "svc_claim_run",
      text: "select svc_private.claim_run($1, $2, $3, $4, $5)",
      values: [runId, ...claimArguments(known), limitsOf(workflows)],
    });
    return { claim: JSON.parse(claim ?? "null") };
  };
  const { claim } = await runCalls(runtime.systemPool).make({ kind: "claim", run: runId }, alone);
  return claim;
}

/** Says that a run has failed because its time was up, or because it ended its workers: `claim_run` decides both. */
async function tellFailed(runId: string, { runtime, log }: ExecuteOptions): Promise<void> {
  const text = "select name, reason from svc_private.ended_by_claim($1)";
  const [run] = (await runtime.systemPool.query<{ name: string; reason: string }>(text, [runId])).rows;
  if (run) log.error({ run: runId, workflow: run.name, reason: run.reason }, runFailed);
}

/** The command is what an operator has to run. */
const runFailed = "run failed; svc workflows show tells more, svc workflows retry continues it";

/** `concurrency` by name, as the newest versions have it; for sql/workflows/claim_run.sql. */
function limitsOf(workflows: Workflows): string {
  const newest = [...workflows].map(([name, [one]]) => [name, one?.concurrency ?? undefined]);
  return JSON.stringify(Object.fromEntries(newest));
}

/** The job names the run, but not its workflow. */
function nameSpan(span: Span | undefined, { name, version }: Claim, runId: string): void {
  span?.rename(`process ${name}`);
  span?.set({ ...jobAttributes("process", name), "svc.workflow.version": version, "svc.workflow.run_id": runId });
}

/** A function of sql/workflows/ that takes the run, its fence, and further arguments. */
interface End {
  sql: "end_run" | "suspend_run" | "retry_run_later" | "pass_on_run";
  values: unknown[];
}

async function runUntilBlocked(
  runId: string,
  claim: Claim,
  definition: WorkflowDefinition,
  { runtime, signal, log, isConnected }: ExecuteOptions,
): Promise<End> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<null>((resolve) => {
    if (claim.msLeft === null || claim.msLeft > longestTimer) return;
    timer = setTimeout(() => resolve(null), Math.max(0, claim.msLeft));
  });
  const replaying = replay({
    runId,
    definition,
    args: decodeValue(claim.args),
    recorded: claim.steps,
    attempts: claim.attempts,
    port: new RunPort({
      ...{ runtime, runId, signal, isConnected, log },
      fence: claim.fence,
      identity: { ...identityOf(claim), request: `run:${runId}` },
      size: sizeOf(claim.steps),
    }),
    signal,
    log,
  });
  replaying.catch(() => {}); // the run is overdue: its result is ignored
  const ending = await Promise.race([replaying, overdue]).finally(() => clearTimeout(timer));
  if (!ending) {
    const message = "The workflow took longer than its maxDuration.";
    log.error({ reason: message }, runFailed);
    return failed({ code: "TIMEOUT", message }, "its time was up while it was running");
  }
  return endOf(ending, claim, definition, { log, show: runtime.showCause });
}

/** Where a failure is told. `show` is for the author, while developing. */
interface Told {
  log: Logger;
  show: RunRuntime["showCause"];
}

function endOf(ending: ReplayOutcome, claim: Claim, definition: WorkflowDefinition, told: Told): End {
  switch (ending.kind) {
    case "suspended":
      return { sql: "suspend_run", values: [ending.stuck] };
    case "retry": {
      const { delay, maxDelay } = definition.retries;
      const next = Math.min(maxDelay, delay * 2 ** claim.attempts);
      told.log.warn(
        { err: ending.error, step: ending.step, attempt: claim.attempts + 1, next },
        "a step failed; trying again",
      );
      told.show?.(ending.error, `the step "${ending.step}" of ${claim.name}`);
      const error = JSON.stringify(runError(ending.error, ending.step));
      return { sql: "retry_run_later", values: [error, detailOf(ending.error), `${next} milliseconds`] };
    }
    case "failed":
      return failedBy(ending.error, claim, told);
    case "completed":
      try {
        const what = "The workflow's result";
        const result = checked(what, () => encodeValue(what, ending.result));
        return { sql: "end_run", values: ["completed", result, null, null] };
      } catch (error) {
        return failedBy(error, claim, told);
      }
  }
}

/** The log gets what a step has thrown, not the text for callers. */
function failedBy(error: unknown, { name }: Claim, { log, show }: Told): End {
  const thrown = error instanceof StepError ? { err: error.cause ?? error, step: error.error.step } : { err: error };
  log.error(thrown, runFailed);
  show?.(thrown.err, error instanceof StepError ? `the step "${error.error.step}" of ${name}` : name);
  return failed(runError(error), detailOf(error));
}

const failed = (error: RunError, detail: string): End => ({
  sql: "end_run",
  values: ["failed", null, JSON.stringify(error), detail],
});

/**
 * A run that a living worker of another release knows is left to it, and so is a young one of a newer version, whose
 * workers may not have begun yet. Any other fails.
 */
async function unknownWorkflow(
  { name, version, msOld }: Claim,
  known: readonly WorkflowDefinition[],
  { runtime, log }: ExecuteOptions,
): Promise<End> {
  const isYoung = known.every((one) => one.version < version) && msOld < releaseTakes;
  const text = "select svc_private.is_held_by_worker($1) as held";
  const { held } = (await runtime.systemPool.query(text, [`workflow ${name} ${version}`])).rows[0];
  if (isYoung || held) {
    const next = held ? askOthersAfter : askLaterAfter(msOld);
    log.warn({ version, next }, "this worker's code does not know the run; left to a worker of another release");
    return { sql: "pass_on_run", values: [`${next} milliseconds`] };
  }
  const others = known.map((one) => one.version).join(", ");
  const message = `The workflow "${name}" is not registered in version ${version}, with which this run was started.`;
  const hint = `Registered: ${others || "no version"}. Register version ${version} under workflows of defineApi too, then retry the run. It keeps its finished steps.`;
  log.error({ reason: message, hint }, runFailed);
  return failed({ code: "UNKNOWN_VERSION", message, hint }, `the worker knows versions: ${others || "none"}`);
}

/** Stores the end and ends the job, in one transaction. A traced run passes its trace on to the job that continues it. */
async function release(runId: string, fence: number, { sql, values }: End, { runtime, finishWith }: ExecuteOptions) {
  await finishWith(async (job, worker) => {
    const alone = () => {
      const given = [runId, fence, ...values, job, worker];
      const places = given.map((_, index) => `$${index + 1}`);
      const text = `select svc_private.${sql}(${places.slice(0, -2)}), svc.finish_job(${places.slice(-2)})`;
      const span = activeSpan();
      if (!span?.sampled) return runtime.systemPool.query({ name: `svc_${sql}`, text, values: given });
      const traced = text.replace("select ", `select svc.carry_trace($${given.length + 1}), `);
      return runtime.systemPool.query({ name: `svc_${sql}+trace`, text: traced, values: [...given, span.traceparent] });
    };
    if (sql !== "end_run" || values[0] !== "completed") return alone();
    const call = { kind: "end", run: runId, fence, result: values[1] as string, job, worker } as const;
    return runCalls(runtime.systemPool).make<unknown>(call, alone);
  }).catch((error) => {
    throw lostOr(error);
  });
}

/** A run acts as the user who started it. */
function identityOf({ userId, system }: Claim): Identity {
  if (system) return systemIdentity;
  return { ...identityOfUser(userId), isJob: true };
}
