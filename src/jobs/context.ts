/**
 * `ctx.scheduler`: calls internal procedures later. Jobs are enqueued in the call's own transaction: they exist when
 * the call commits, and never when it fails.
 * Next hop: `sql/jobs/enqueue_job.sql`; `workers/tasks/procedure.ts` runs what was enqueued.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ContextScheduler, ScheduledProcedure } from "../contract/scheduler.ts";
import { dateOf, isIsoTime } from "../kit/iso-time.ts";
import { misuseError } from "../kit/misuse-error.ts";
import { didYouMean } from "../kit/nearest.ts";
import type { SvcError } from "../kit/svc-error.ts";
import { type Access, requireWrite } from "../postgres/access.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { sendingJob } from "../telemetry/jobs.ts";
import { checkArguments, jobArguments } from "./job-arguments.ts";
import type { PendingWork } from "./pending-work.ts";

/** The internal procedures of the application. */
export interface InternalNames {
  has(name: string): boolean;
  list(): string[];
  /** The input schema, if it can be checked before the call: no middleware precedes `.input()`. */
  inputOf(name: string): StandardSchemaV1 | undefined;
}

/** In milliseconds: ten years of 365 days. */
const maxDelay = 315_360_000_000;

/** The functions for the two kinds of callers. They differ in who may execute them, and in whose name they act. */
const statements = {
  caller: {
    enqueue: { name: "svc_enqueue_job", text: "select svc.enqueue_job($1, $2, $3, $4, $5) as it" },
    cancel: { name: "svc_cancel_job", text: "select svc.cancel_job($1) as it" },
  },
  system: {
    enqueue: {
      name: "svc_enqueue_system_job",
      text: "select svc_private.enqueue_system_job($1, $2, $3, $4, $5) as it",
    },
    cancel: { name: "svc_cancel_any_job", text: "select svc_private.cancel_any_job($1) as it" },
  },
};

export interface CallSchedulerOptions {
  transaction: RequestTransaction;
  access: Access;
  internals: InternalNames;
  /** Whether the call runs as the system. */
  system: boolean;
  requestId: string;
  pendingWork: PendingWork;
  /** Whether details of misuse are only logged. */
  production: boolean;
}

export class CallScheduler implements ContextScheduler {
  readonly #options: CallSchedulerOptions;
  readonly #pendingWork: PendingWork;

  constructor(options: CallSchedulerOptions) {
    this.#options = options;
    this.#pendingWork = options.pendingWork;
  }

  runAfter(delayMs: number, procedure: ScheduledProcedure | string, args?: unknown): Promise<string> {
    return this.#pendingWork.keep(async () => {
      if (typeof delayMs !== "number" || !(delayMs >= 0 && delayMs <= maxDelay)) {
        throw this.#misuse(`runAfter: delayMs must be a number of milliseconds from 0 to ${maxDelay}, got ${delayMs}.`);
      }
      return this.#enqueue(procedure, args, `${delayMs} milliseconds`, null);
    });
  }

  runAt(at: Date | number | string, procedure: ScheduledProcedure | string, args?: unknown): Promise<string> {
    return this.#pendingWork.keep(async () => {
      const time = timeOf(at);
      if (time) return this.#enqueue(procedure, args, null, time);
      throw this.#misuse(
        `runAt: ${at} must be a time that exists, within the next ten years. Pass a Date, epoch milliseconds or an ` +
          "ISO 8601 text, such as 2030-01-31T12:00:00Z.",
      );
    });
  }

  cancel(id: string): Promise<boolean> {
    return this.#pendingWork.keep(async () => {
      this.#refuseInQuery();
      if (!/^[1-9]\d{0,17}$/.test(String(id))) return false;
      return this.#ask("cancel", [id]);
    });
  }

  async #enqueue(
    procedure: ScheduledProcedure | string,
    args: unknown,
    delay: string | null,
    at: string | null,
  ): Promise<string> {
    const { internals, requestId } = this.#options;
    this.#refuseInQuery();
    const name = typeof procedure === "string" ? procedure : Object(procedure)["~svc"]?.procedure?.name;
    if (name === undefined) {
      throw this.#misuse(
        `The second argument is an internal procedure or the name of one. ${didYouMean("", internals.list())}`,
      );
    }
    if (!internals.has(name)) {
      throw this.#misuse(
        `"${name}" is not an internal procedure registered in defineApi. ${didYouMean(name, internals.list())} ` +
          "Only procedure.internal can be scheduled.",
      );
    }
    const json = jobArguments(name, args);
    await checkArguments(name, internals.inputOf(name), json);
    const values = [name, json, delay, at, requestId];
    return sendingJob(name, async () => String(await this.#ask("enqueue", values)));
  }

  async #ask<T>(what: "enqueue" | "cancel", values: unknown[]): Promise<T> {
    const { transaction, system } = this.#options;
    const { rows } = await transaction.tryAsLogin({ ...statements[system ? "system" : "caller"][what], values });
    return rows[0].it;
  }

  #misuse(text: string): SvcError {
    return misuseError("ctx.scheduler", text, this.#options.production);
  }

  #refuseInQuery(): void {
    requireWrite(this.#options.access, "schedule anything");
  }
}

/** @returns null unless it is a time within the next ten years */
function timeOf(at: Date | number | string): string | null {
  const isText = typeof at === "string";
  if (isText ? !isIsoTime(at) : !(at instanceof Date) && typeof at !== "number") return null;
  const time = isText ? dateOf(at) : new Date(at);
  return time.getTime() - Date.now() <= maxDelay ? time.toISOString() : null;
}
