/**
 * The port of a replay to the database: runs steps with the identity of the run's user, and writes checkpoints.
 * Next hop: `sql/workflows/record_step.sql`, `sql/workflows/begin_wait.sql`.
 */
import type { Logger } from "pino";
import { type AiCall, withAiCall } from "../ai/call.ts";
import type { RequestDatabase } from "../contract/database.ts";
import type { ConvertStoredInput } from "../contract/documents.ts";
import { type KeptConversion, readConversion } from "../documents/conversion-cache.ts";
import { type ConversionRuntime, convertStored } from "../documents/convert-stored.ts";
import type { ShowCause } from "../http/exchange.ts";
import { readableError } from "../kit/storable-text.ts";
import type { CreateRequestDatabase } from "../postgres/database.ts";
import { isConnectionLoss, sqlState } from "../postgres/errors.ts";
import type { Identity } from "../postgres/identity.ts";
import { readerOfCall } from "../postgres/own-transaction.ts";
import { queryText } from "../postgres/refusals.ts";
import { RequestTransaction } from "../postgres/transaction.ts";
import { tellUnsent } from "../postgres/unsent-writes.ts";
import { whereToLook } from "../postgres/where-to-look.ts";
import { contextRag } from "../rag/context.ts";
import { CallStorage } from "../storage/context.ts";
import { readFileOf } from "../storage/read-file.ts";
import { errorType, traced } from "../telemetry/span.ts";
import { checkRunSize, decodeValue, encodeValue } from "./encoding.ts";
import { checked, runError, StepError } from "./failure.ts";
import {
  type Enter,
  type ReplayPort,
  type RunningStep,
  StepFailure,
  StepInterrupted,
  type WaitAnswer,
} from "./replay-port.ts";
import { runCalls, type StepCall } from "./run-calls.ts";

/** The run was cancelled, or another worker has it: further results of this worker are ignored. */
export class RunLostError extends Error {}

/** The type of the error that the step threw, not of its wrapper. */
const failureType = (error: unknown) =>
  errorType(error instanceof StepFailure || error instanceof StepError ? (error.cause ?? error) : error);

/** Converts the fence's error, SV409 (sql/workflows/lock_run.sql). */
export const lostOr = (error: unknown) =>
  sqlState(error) === "SV409" ? new RunLostError("the run is no longer held", { cause: error }) : error;

const record = { name: "svc_record_step", text: "select svc.record_step($1, $2, $3, $4, $5, $6, $7)" };
const wait = { name: "svc_begin_wait", text: "select svc_private.begin_wait($1, $2, $3, $4, $5, $6)" };

/** What a run needs from the process. */
export interface RunRuntime extends ConversionRuntime {
  /** Shows the author why a step or a run failed, while developing. */
  showCause?: ShowCause;
  requestDatabase: CreateRequestDatabase;
  /** Whether errors have no hints for the author. */
  production: boolean;
}

/** One claim of a run. */
export interface ClaimedRun {
  runtime: RunRuntime;
  runId: string;
  fence: number;
  identity: Identity;
  /** Aborted when the worker stops, to abort long steps. */
  signal: AbortSignal;
  /** Whether the worker's connections work. */
  isConnected: () => Promise<boolean>;
  log: Logger;
  /** Of the recorded checkpoints, in characters of JSON. */
  size: number;
}

/** What the function of a step uses. Its parts are made when they are used. */
class StepOfRun implements RunningStep {
  readonly position: string;
  readonly name: string;
  readonly #transaction: RequestTransaction;
  readonly #runtime: RunRuntime;
  usedDb: RequestDatabase | undefined;
  #storage: CallStorage | undefined;

  constructor(position: string, name: string, transaction: RequestTransaction, runtime: RunRuntime) {
    this.position = position;
    this.name = name;
    this.#transaction = transaction;
    this.#runtime = runtime;
  }

  get db(): RequestDatabase {
    this.usedDb ??= this.#runtime.requestDatabase(this.#transaction);
    return this.usedDb;
  }

  get storage(): CallStorage {
    this.#storage ??= new CallStorage(this.#runtime.storage, this.#transaction, "write");
    return this.#storage;
  }

  get rag(): RunningStep["rag"] {
    const { userId, role } = this.#transaction.identity;
    return contextRag(this.#transaction, userId || null, role === "svc_system");
  }

  /** After COMMIT or a rollback. */
  async ended(how: "committed" | "rolledBack"): Promise<void> {
    await this.#storage?.[how]();
  }
}

export class RunPort implements ReplayPort {
  readonly #run: ClaimedRun;
  #size: number;

  constructor(run: ClaimedRun) {
    this.#run = run;
    this.#size = run.size;
  }

  step<T>(position: string, name: string, last: (error: unknown) => boolean, run: Enter<T>): Promise<T> {
    const attributes = { "svc.workflow.step": name, "svc.workflow.position": position };
    return traced(`step ${name}`, "internal", attributes, () => this.#step(position, name, last, run), failureType);
  }

  async #step<T>(position: string, name: string, last: (error: unknown) => boolean, run: Enter<T>): Promise<T> {
    const { runtime, runId, fence, identity, signal, isConnected, log } = this.#run;
    const transaction = new RequestTransaction(this.#pool, identity, "write", runtime.limits);
    const began = new Date().toISOString();
    const call = { kind: "step", run: runId, fence, place: position, step: name, began } as const;
    const step = new StepOfRun(position, name, transaction, runtime);
    const fail = async (error: unknown): Promise<never> => {
      await transaction.rollback();
      await step.ended("rolledBack");
      if (signal.aborted && error === signal.reason) throw new StepInterrupted();
      const told = transaction.explain(error);
      const explained = runtime.production ? told : whereToLook(told, identity.userId || null);
      // Ends the replay and uses up no attempt of the step: the job is tried again when the worker can connect.
      if (!(await isConnected())) throw explained;
      if (!last(explained)) throw new StepFailure("to be tried again", { cause: explained });
      const failure = runError(explained, name);
      await this.#record(null, { ...call, result: null, failure: JSON.stringify(failure) });
      throw new StepError(failure, explained);
    };
    let done: { result: T; stored: string };
    try {
      const result = await withAiCall(
        () => this.#aiCall(transaction, step.storage),
        () => run(step),
      );
      const what = `The result of the step "${name}"`;
      const stored = checked(what, () => {
        const text = encodeValue(what, result);
        checkRunSize(what, this.#size + text.length);
        this.#size += text.length;
        return text;
      });
      // The handler gets what a replay will get, so that a value that JSON changes shows at once.
      done = { result: decodeValue(JSON.parse(stored)) as T, stored };
    } catch (error) {
      return fail(readableError(error));
    }
    try {
      await this.#record(transaction, { ...call, result: done.stored, failure: null });
    } catch (error) {
      await transaction.rollback();
      // The commit's outcome is unknown here: the next replay looks for the checkpoint. A transaction that PostgreSQL ended
      // in a pause (25P03), or at its time limit (25P04), had not begun to commit: the step has failed.
      const isPause = ["25P03", "25P04"].includes(sqlState(error) ?? "");
      if (error instanceof RunLostError || (isConnectionLoss(error) && !isPause)) throw error;
      return fail(error);
    }
    await step.ended("committed");
    tellUnsent(log, "wf.db", step.usedDb);
    return done.result;
  }

  /**
   * In the step's own transaction if it used one: its writes and the checkpoint commit together. Otherwise with the
   * checkpoints of other runs.
   */
  async #record(transaction: RequestTransaction | null, step: StepCall): Promise<void> {
    const values = [step.run, step.fence, step.place, step.step, step.result, step.failure, step.began];
    const { systemPool } = this.#run.runtime;
    const alone = () => queryText(systemPool, { ...record, values });
    await transaction?.nested?.settle();
    const isUsed = transaction?.isOpen;
    // Ended too: a statement that comes later would open it, and hold its connection for ever.
    if (!isUsed) await transaction?.rollback();
    const recording = isUsed
      ? transaction.commit({ ...record, values })
      : runCalls(systemPool).make<unknown>(step, alone);
    await recording.catch((error) => {
      throw lostOr(error);
    });
  }

  get #pool() {
    const { runtime, identity } = this.#run;
    return identity.role === "svc_system" ? runtime.systemPool : runtime.requestPool;
  }

  /** The user, files and transaction of AI calls in a step. */
  #aiCall(transaction: RequestTransaction, storage: CallStorage): AiCall {
    const { runtime, identity } = this.#run;
    const { ai: services, storage: files, limits } = runtime;
    const reader = readerOfCall(transaction, () => new RequestTransaction(this.#pool, identity, "read", limits));
    const readFile = readFileOf(files, reader);
    return { services, userId: identity.userId || null, storage, readFile, transaction };
  }

  convert(input: ConvertStoredInput) {
    return convertStored(this.#run.runtime, this.#run.identity, input, this.#run.signal);
  }

  conversion(kept: KeptConversion) {
    return readConversion(this.#run.runtime.systemPool, this.#run.identity.userId || null, kept);
  }

  async wait(position: string, kind: "wait" | "sleep", name: string, ms: number | null): Promise<WaitAnswer> {
    const patience = ms === null ? null : `${ms} milliseconds`;
    const { runtime, runId, fence } = this.#run;
    const values = [runId, fence, position, kind, name, patience];
    const answer = await queryText(runtime.systemPool, { ...wait, values }).catch((error) => {
      throw lostOr(error);
    });
    return JSON.parse(answer ?? "null");
  }
}
