/**
 * Runs one call as a user and rolls it back: what it answers, and what it would have written, enqueued and told. In a process of
 * its own, because it closes the ways out of the transaction: other connections only read, and `fetch` sends nothing.
 * Next hop: `src/call/batch.ts`; `sql/jobs/jobs_of_transaction.sql`.
 */
import { sessionsOfUsers } from "../auth/sessions/find-user.ts";
import { runWithin } from "../call/batch.ts";
import { CallContext } from "../call/create-context.ts";
import { inTransaction } from "../call/invoke.ts";
import { decodeCall } from "../http/wire.ts";
import { causesOf } from "../kit/causes.ts";
import { didYouMean } from "../kit/nearest.ts";
import { SvcError } from "../kit/svc-error.ts";
import { createPools } from "../postgres/pools.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { createRuntime, type ProcessOptions } from "./runtime.ts";

export interface DryRun {
  /** The body of the answer: `{ json, meta }`, or an error with its message. */
  answer: Record<string, unknown>;
  status: number;
  /** By table. Rows of a savepoint that was rolled back count too, as PostgreSQL counts them. */
  rows: Written[];
  jobs: { name: string; due: Date }[];
  /** What `context.realtime` would send: `{ invalidate | refresh | emit: query }`. */
  messages: Record<string, unknown>[];
  /** What would have happened outside of the transaction and was refused. */
  refused: string[];
}

interface Written {
  table: string;
  inserted: number;
  updated: number;
  deleted: number;
  /** Whether those who watch the table's rows hear of it. */
  followed: boolean;
}

/** @param userId null for a caller without an account @param args as in a call's body */
export async function dryRun(
  call: { name: string; userId: string | null; args: unknown },
  options: ProcessOptions,
): Promise<DryRun> {
  const { app, config, urls, log } = options;
  const settings = { ...config.pool, ...config.limits, request: 2, system: 2, auth: 1 };
  const pools = createPools({ ...urls, system: readOnly(urls.system) }, settings, log);
  const runtime = { ...createRuntime(options, pools), rateLimit: async () => {} };
  const done: DryRun = { answer: {}, status: 200, rows: [], jobs: [], messages: [], refused: [] };
  const openFetch = refuseFetch(done.refused);
  try {
    const { procedures } = app.api["~svc"];
    const procedure = procedures.get(call.name);
    if (!procedure || procedure.kind === "internal") {
      const known = [...procedures.values()].filter(({ kind }) => kind !== "internal").map(({ name }) => name);
      const hint = procedure ? `${call.name} is internal: jobs alone call it.` : didYouMean(call.name, known);
      throw new SvcError("NOT_FOUND", `There is no query or mutation ${call.name}.`, { hint });
    }
    const requestId = "dry-run";
    const session = call.userId === null ? null : await sessionsOfUsers(pools.system, app.auth)(call.userId, requestId);
    const caller = { session, requestId };
    const { args: input } = decodeCall({ name: call.name, args: call.args });
    const access = procedure.kind === "query" ? "read" : "write";
    const body = await inTransaction(runtime, caller, access, async (transaction, context) => {
      const before = access === "write" ? await countWritten(transaction) : [];
      const encoded = await runWithin(runtime, transaction, context, { procedure, input });
      if (access === "write") {
        done.messages = CallContext.messages(context).map((message) => withoutData(JSON.parse(message)));
        await CallContext.tell(context);
        // What COMMIT would check.
        await transaction.query({ text: "set constraints all immediate" });
        done.rows = difference(before, await countWritten(transaction));
        done.jobs = (await transaction.asLogin({ text: "select name, due from svc.jobs_of_transaction()" })).rows;
      }
      await transaction.rollback();
      return encoded;
    });
    done.answer = JSON.parse(body);
  } catch (error) {
    if (isReadOnly(error)) done.refused.push("a write on a connection of its own: context.unsafeDb, a file or AI");
    done.status = error instanceof SvcError ? error.status : 500;
    done.answer = told(error);
  } finally {
    openFetch();
    await pools.close();
  }
  return done;
}

/** By a parameter of the connection: a setting that is made later would stay on a pooler's connection. */
function readOnly(text: string): string {
  const url = new URL(text);
  const others = url.searchParams.get("options");
  url.searchParams.set("options", [others, "-c default_transaction_read_only=on"].filter(Boolean).join(" "));
  return url.href;
}

/** @param refused gets a line for each request @returns undoes it */
function refuseFetch(refused: string[]): () => void {
  const original = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const { method, url } = new Request(input, init);
    const { origin, pathname } = new URL(url);
    refused.push(`fetch ${method} ${origin}${pathname}`);
    throw new Error(`A dry run sends no request: ${method} ${origin}${pathname}`);
  };
  return () => {
    globalThis.fetch = original;
  };
}

type Counted = Written & { id: number };

async function countWritten(transaction: RequestTransaction): Promise<Counted[]> {
  const { rows } = await transaction.query({
    text: `select s.relid::bigint::float8 as id, format('%I.%I', s.schemaname, s.relname) as table,
        s.n_tup_ins::float8 as inserted, s.n_tup_upd::float8 as updated, s.n_tup_del::float8 as deleted,
        exists (select from pg_catalog.pg_publication p join pg_catalog.pg_publication_rel r on r.prpubid = p.oid
                 where p.pubname = 'svc' and r.prrelid = s.relid) as followed
      from pg_catalog.pg_stat_xact_user_tables s where s.n_tup_ins + s.n_tup_upd + s.n_tup_del > 0 order by 2`,
  });
  return rows;
}

/** The server may not have passed on yet what earlier transactions of the connection wrote. */
function difference(before: readonly Counted[], after: readonly Counted[]): Written[] {
  const known = new Map(before.map((one) => [one.id, one]));
  return after.flatMap(({ id, table, followed, ...counts }) => {
    const { inserted = 0, updated = 0, deleted = 0 } = known.get(id) ?? {};
    const written = {
      inserted: counts.inserted - inserted,
      updated: counts.updated - updated,
      deleted: counts.deleted - deleted,
    };
    return Object.values(written).some((count) => count > 0) ? [{ table, ...written, followed }] : [];
  });
}

const withoutData = ({ data: _, result: __, channel, topic: stored, message, ...rest }: Record<string, unknown>) => {
  const { topic = stored, event = message } = Object(channel) as { topic?: string; event?: string };
  return topic ? { send: topic, event } : rest;
};

const isReadOnly = (error: unknown) => causesOf(error).some((one) => "code" in one && one.code === "25006");

/** With the cause's message, which clients do not get: the operator asked for it. */
function told(error: unknown): Record<string, unknown> {
  const { message, code, hint, issues } = error instanceof SvcError ? error : new SvcError("INTERNAL");
  const cause = causesOf(error).at(-1)?.message;
  return {
    error: message,
    code,
    ...(issues && { issues }),
    ...(hint && { hint }),
    ...(code === "INTERNAL" && cause !== message && { cause }),
  };
}
