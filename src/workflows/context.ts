/**
 * `ctx.workflows`: starts, reads, retries and cancels runs, in the call's transaction and as its caller. Runs of other
 * users answer as if they did not exist.
 * Next hop: `sql/workflows/start_workflow.sql` and the functions beside it.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { z } from "zod";
import { validate } from "../contract/middleware.ts";
import type { Workflow, WorkflowDefinition, Workflows } from "../contract/workflow.ts";
import {
  type ContextWorkflows,
  type ListOptions,
  type StartOptions,
  type WorkflowTimeline,
  workflowStatuses,
} from "../contract/workflow-runs.ts";
import type { PendingWork } from "../jobs/pending-work.ts";
import { misuseError } from "../kit/misuse-error.ts";
import { didYouMean } from "../kit/nearest.ts";
import { checkCallOptions } from "../kit/options.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isUuid } from "../kit/uuid.ts";
import { type Access, requireWrite } from "../postgres/access.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { sendingJob } from "../telemetry/jobs.ts";
import { encodeValue, isName, nameRule } from "./encoding.ts";
import { readRun, readTimeline, type StoredRun } from "./records.ts";

/** The keys of options. Their values are checked where they are used. */
const value = z.unknown().optional();
const startOptions = z.strictObject({ idempotencyKey: value });
const listOptions = z.strictObject({ status: value, name: value, limit: value, cursor: value });
const retryOptions = z.strictObject({ fromStep: value });

export interface CallWorkflowsOptions {
  transaction: RequestTransaction;
  access: Access;
  workflows: Workflows;
  /** Whether the call runs as the system, which may access all runs. */
  system: boolean;
  pendingWork: PendingWork;
  /** Whether details of misuse are only logged. */
  production: boolean;
}

export class CallWorkflows implements ContextWorkflows {
  readonly #options: CallWorkflowsOptions;
  readonly #pendingWork: PendingWork;

  constructor(options: CallWorkflowsOptions) {
    this.#options = options;
    this.#pendingWork = options.pendingWork;
  }

  start<Args>(workflow: Workflow<Args> | string, args?: Args, options: StartOptions = {}): Promise<{ id: string }> {
    return this.#pendingWork.keep(async () => {
      this.#refuseInQuery();
      checkCallOptions("start", startOptions, options);
      const name = typeof workflow === "string" ? workflow : Object(workflow)["~svc"]?.workflow?.name;
      if (name === undefined) throw this.#misuse("start takes a workflow or the name of one as its first argument.");
      const definition = this.#find(name);
      const { idempotencyKey = null } = options;
      if (idempotencyKey !== null && !isName(idempotencyKey)) {
        throw new SvcError("BAD_REQUEST", `An idempotencyKey needs a text ${nameRule}`);
      }
      const start = this.#options.system ? "svc_private.start_system_workflow" : "svc.start_workflow";
      const values = [
        name,
        definition.version,
        await argumentsOf(name, definition.args, args),
        idempotencyKey,
        definition.maxDuration === null ? null : `${definition.maxDuration} milliseconds`,
        definition.concurrency,
      ];
      const id = await sendingJob(name, () => this.#ask(start, values));
      return { id };
    });
  }

  async get(id: string): Promise<WorkflowTimeline> {
    const text = "select svc.get_workflow($1) as it";
    const { rows } = isUuid(id)
      ? await this.#options.transaction.query({ name: "svc_get_workflow", text }, [id])
      : { rows: [{ it: null }] };
    if (rows[0].it === null) throw runNotFound();
    return readTimeline(rows[0].it);
  }

  async list(options: ListOptions = {}) {
    checkCallOptions("list", listOptions, options);
    const { status, name, limit = 20, cursor } = options;
    // An unknown status would never find anything.
    if (status !== undefined && !workflowStatuses.includes(status)) {
      throw invalidOption("status", `one of ${workflowStatuses.join(", ")}`);
    }
    if (cursor !== undefined && !isUuid(String(cursor).split("|")[1] ?? "")) {
      throw invalidOption("cursor", "the nextCursor of a page");
    }
    if (typeof limit !== "number" || Number.isNaN(limit)) throw invalidOption("limit", "a number");
    const most = Math.min(Math.max(Math.trunc(limit), 1), 100);
    const { rows } = await this.#options.transaction.query(
      { name: "svc_list_workflows", text: "select svc.list_workflows($1, $2, $3, $4) as it" },
      [status ?? null, name ?? null, most, cursor ?? null],
    );
    const { items, nextCursor } = rows[0].it as { items: StoredRun[]; nextCursor: string | null };
    return { items: items.map(readRun), nextCursor };
  }

  // The wait tells an event from its timeout, which is null.
  signal(id: string, event: string, payload: unknown = true): Promise<void> {
    if (!isName(event)) return Promise.reject(new SvcError("BAD_REQUEST", `An event needs a name ${nameRule}`));
    return this.#steer("signal", id, () => [event, encoded("The payload", payload)]);
  }

  cancel(id: string): Promise<void> {
    return this.#steer("cancel", id, () => []);
  }

  retry(id: string, options: { fromStep?: string } = {}): Promise<void> {
    return this.#steer("retry", id, () => {
      checkCallOptions("retry", retryOptions, options);
      return [options.fromStep ?? null];
    });
  }

  #steer(what: "signal" | "cancel" | "retry", id: string, values: () => unknown[]): Promise<void> {
    const name = this.#options.system ? `svc_private.${what}_any_workflow` : `svc.${what}_workflow`;
    return this.#pendingWork.keep(
      async () => {
        this.#refuseInQuery();
        return isUuid(id) ? this.#ask(name, [id, ...values()]) : "unknown";
      },
      // A refusal is an error of the handler: unlike a broken statement it does not fail the call.
      (answer) => {
        const error = refusals[answer];
        if (error) throw error();
      },
    );
  }

  async #ask(name: string, values: unknown[]): Promise<string> {
    const places = values.map((_, index) => `$${index + 1}`).join(", ");
    const statement = { name: name.replace(".", "_"), text: `select ${name}(${places}) as it` };
    const { rows } = await this.#options.transaction.tryAsLogin(statement, values);
    return rows[0].it;
  }

  #find(name: string): WorkflowDefinition {
    const { workflows } = this.#options;
    const [newest] = workflows.get(name) ?? [];
    if (newest) return newest;
    const advice = didYouMean(name, [...workflows.keys()]);
    throw this.#misuse(`"${name}" is not a workflow registered in defineApi. ${advice}`);
  }

  #misuse(text: string): SvcError {
    return misuseError("ctx.workflows", text, this.#options.production);
  }

  #refuseInQuery(): void {
    requireWrite(this.#options.access, "start or steer workflows");
  }
}

/** The arguments that handlers get: validated, and encoded so that dates and the like are kept. */
async function argumentsOf(workflow: string, schema: StandardSchemaV1, args: unknown): Promise<string> {
  const checked = await validate(schema, args ?? {});
  if (checked.issues) {
    const { issues } = checked;
    throw new SvcError("VALIDATION_FAILED", `The workflow "${workflow}" does not take these arguments.`, { issues });
  }
  return encoded("The arguments of a workflow", checked.value);
}

function encoded(what: string, value: unknown): string {
  try {
    return encodeValue(what, value);
  } catch (error) {
    throw new SvcError("BAD_REQUEST", (error as Error).message);
  }
}

function invalidOption(path: string, expected: string): SvcError {
  const message = `must be ${expected}`;
  return new SvcError("BAD_REQUEST", `"${path}" ${message}.`, { issues: [{ path: [path], message }] });
}

export const runNotFound = () => new SvcError("NOT_FOUND", "This run does not exist, or it is not yours.");

/** Errors by the answers of sql/workflows/ other than "accepted". */
const refusals: Record<string, () => SvcError> = {
  unknown: runNotFound,
  ended: () => new SvcError("CONFLICT", "This run has ended."),
  full: () =>
    new SvcError("CONFLICT", "This run holds as many events as it may.", {
      hint: "That is 1,000 that it has not waited for, and 16 MiB in all. Send ids, and keep the content in a table.",
    }),
  active: () => new SvcError("CONFLICT", "Only a run that failed or was cancelled can be retried."),
  no_step: () => new SvcError("BAD_REQUEST", "This run has no step of that name."),
};
