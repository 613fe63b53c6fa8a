/**
 * Makes calls of several runs in one transaction: what they ask for while two such statements are under way becomes the
 * next one. A transaction of its own costs PostgreSQL and Node more than such a call. No call waits for others to come,
 * and one that finds no other under way is made alone.
 * Next hop: `sql/workflows/advance_runs.sql`.
 */

import type pg from "pg";
import { onePer } from "../kit/one-per.ts";
import { isConnectionLoss, sqlState } from "../postgres/errors.ts";
import { queryText } from "../postgres/refusals.ts";
import { activeSpan } from "../telemetry/span.ts";

/** A checkpoint. */
export interface StepCall {
  kind: "step";
  run: string;
  fence: number;
  place: string;
  step: string;
  /** In JSON, as `failure` is. */
  result: string | null;
  failure: string | null;
  /** In ISO 8601. */
  began: string;
}

/** The first claim of a run, a checkpoint, or the end of a completed run with its job. */
export type RunCall =
  | { kind: "claim"; run: string }
  | StepCall
  | { kind: "end"; run: string; fence: number; result: string; job: string; worker: string };

/** With one, all would wait while PostgreSQL does something else or waits for the disk. */
const mostUnderWay = 2;
/** In characters of JSON. Larger calls are made alone, so that others need not wait for them. */
const largestCall = 16_000;

interface Waiting {
  call: string;
  alone(): Promise<unknown>;
  give(answer: unknown): void;
  fail(error: unknown): void;
}

export class RunCalls {
  readonly #pool: pg.Pool;
  #waiting: Waiting[] = [];
  #underWay = 0;
  #isOneAlone = false;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * @param alone makes the same call by itself; returns the same as `advance_runs` for this call
   * @throws the error of `alone`, or of a connection that broke: then it is not known whether the call has happened
   */
  make<T>(call: RunCall, alone: () => Promise<T>): Promise<T> {
    if (activeSpan()?.sampled) return alone(); // a trace shows the statement of each call
    if (this.#underWay === 0 && !this.#isOneAlone) return this.#makeOneAlone(alone);
    const text = JSON.stringify(call);
    if (text.length > largestCall) return alone();
    return new Promise<T>((resolve, fail) => {
      this.#waiting.push({ call: text, alone, give: resolve as Waiting["give"], fail });
      this.#send();
    });
  }

  /** Others do not wait for it: it may wait for a lock. */
  async #makeOneAlone<T>(alone: () => Promise<T>): Promise<T> {
    this.#isOneAlone = true;
    try {
      return await alone();
    } finally {
      this.#isOneAlone = false;
    }
  }

  #send(): void {
    if (this.#underWay === mostUnderWay || this.#waiting.length === 0) return;
    const calls = this.#waiting;
    this.#waiting = [];
    this.#underWay++;
    this.#makeTogether(calls).finally(() => {
      this.#underWay--;
      this.#send();
    });
  }

  async #makeTogether(calls: readonly Waiting[]): Promise<void> {
    const answers = await this.#ask(calls).catch((error) => {
      for (const { fail } of calls) fail(error);
    });
    if (!answers) return;
    for (const [index, { alone, give, fail }] of calls.entries()) {
      if (answers[index]) give(answers[index]);
      else alone().then(give, fail);
    }
  }

  /** @returns nothing for calls that have to be made alone: all of them after an error of PostgreSQL, which undoes them */
  async #ask(calls: readonly Waiting[]): Promise<unknown[]> {
    const text = "select svc_private.advance_runs($1)";
    const values = [`[${calls.map(({ call }) => call).join()}]`];
    try {
      return JSON.parse((await queryText(this.#pool, { name: "svc_advance_runs", text, values })) ?? "[]");
    } catch (error) {
      if (sqlState(error) === undefined || isConnectionLoss(error)) throw error;
      return [];
    }
  }
}

/** Those of a worker, by the pool of the system. */
export const runCalls = onePer((pool: pg.Pool) => new RunCalls(pool));
