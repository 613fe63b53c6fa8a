/** Builds the `context` of one call. Members are created on first access: most calls use one or two of them. */
import type pg from "pg";
import type { Logger } from "pino";
import { type AiCall, withAiCall } from "../ai/call.ts";
import type { AiServices } from "../ai/services.ts";
import type { Caller } from "../contract/caller.ts";
import { type Context, type ContextAuth, inProduction, type PlatformContext } from "../contract/context.ts";
import type { RequestDatabase, SystemDatabase } from "../contract/database.ts";
import type { ContextGrounding, GroundingOptions } from "../contract/grounding.ts";
import type { HandlerAuth } from "../contract/handler-auth.ts";
import { extend } from "../contract/middleware.ts";
import type { ContextRag } from "../contract/rag.ts";
import type { ContextRealtime } from "../contract/realtime.ts";
import type { ContextScheduler } from "../contract/scheduler.ts";
import type { ContextSearch } from "../contract/search.ts";
import type { ContextStorage } from "../contract/storage.ts";
import type { Workflows } from "../contract/workflow.ts";
import type { ContextWorkflows } from "../contract/workflow-runs.ts";
import { CallScheduler, type InternalNames } from "../jobs/context.ts";
import { PendingWork } from "../jobs/pending-work.ts";
import { misuseError } from "../kit/misuse-error.ts";
import { isAnotherCall, nextCallId } from "../kit/running-call.ts";
import type { Access, Fallback, TransactionLimits } from "../postgres/access.ts";
import { type AnonymousGate, unsafeDb } from "../postgres/anonymous-gate.ts";
import type { CreateRequestDatabase } from "../postgres/database.ts";
import { usedElsewhere } from "../postgres/failures.ts";
import { identityOf, systemIdentity } from "../postgres/identity.ts";
import { readerOfCall, readInOwnTransaction } from "../postgres/own-transaction.ts";
import { RequestTransaction } from "../postgres/transaction.ts";
import { tellUnsent, watchedCopy } from "../postgres/unsent-writes.ts";
import { contextRag, ingestFile } from "../rag/context.ts";
import { contextGrounding } from "../rag/grounding.ts";
import { CallRealtime, type IsPublic } from "../realtime/context.ts";
import { contextSearch } from "../search/context.ts";
import type { SearchTable } from "../search/searchable.ts";
import { CallStorage } from "../storage/context.ts";
import { readFileOf } from "../storage/read-file.ts";
import type { Storage } from "../storage/storage.ts";
import { CallWorkflows } from "../workflows/context.ts";
import { contextAuth } from "./handler-auth.ts";
import { readOnly } from "./hints.ts";

/** The services that all calls of a process share. */
export interface ContextServices {
  log: Logger;
  /** The application's folder. */
  root: string;
  requestDatabase: CreateRequestDatabase;
  systemDatabase: SystemDatabase;
  isPublicQuery: IsPublic;
  /** Whether a query's data may be sent to all its subscribers. */
  takesData: IsPublic;
  /** The names of all queries, and of all channels: ctx.realtime accepts only these. */
  queryNames: readonly string[];
  channelNames: readonly string[];
  internals: InternalNames;
  /** By export name. */
  searchTables: ReadonlyMap<string, SearchTable>;
  workflows: Workflows;
  grounding: GroundingOptions;
  storage: Storage;
  ai: AiServices;
  /** The pool of callers' requests; the other one is the system's. */
  requestPool: pg.Pool;
  /** Where callers' transactions restart after a standby has failed. (Default: nowhere) */
  fallback?: Fallback;
  systemPool: pg.Pool;
  limits: TransactionLimits;
  rateLimit: (caller: Caller, ...call: Parameters<Context["rateLimit"]>) => Promise<void>;
  /** The service's public origin. */
  baseUrl: string;
  /** (Default: this process serves no requests) */
  auth?: () => Promise<HandlerAuth>;
  production: boolean;
}

/** A transaction with the caller's identity. */
export function transactionFor(
  services: Pick<ContextServices, "requestPool" | "fallback" | "systemPool" | "limits">,
  caller: Caller,
  access: Access,
): RequestTransaction {
  const { requestPool, fallback, systemPool, limits } = services;
  if (caller.system) {
    return new RequestTransaction(systemPool, { ...systemIdentity, request: caller.requestId }, access, limits);
  }
  return new RequestTransaction(requestPool, identityOf(caller), access, limits, fallback);
}

const state = Symbol("state");
const gate = Symbol("gate");

/** The context of a call. A symbol property holds its state: what middleware derives from it would lack private fields. */
export class CallContext implements Context, PlatformContext {
  readonly [state]: {
    services: ContextServices;
    caller: Caller;
    transaction: RequestTransaction;
    access: Access;
    db?: RequestDatabase;
    unsafeDb?: SystemDatabase;
    log?: Logger;
    realtime?: CallRealtime;
    scheduler?: CallScheduler;
    workflows?: CallWorkflows;
    storage?: CallStorage;
    pendingWork?: PendingWork;
    usedSystem?: boolean;
    texts?: Set<string>;
    call: number;
  };
  /** Set while code of an anonymous definition has the context. */
  readonly [gate]?: AnonymousGate;

  constructor(services: ContextServices, caller: Caller, transaction: RequestTransaction, access: Access) {
    this[state] = { services, caller, transaction, access, call: nextCallId() };
  }

  get db(): RequestDatabase {
    const own = this[state];
    own.db ??= own.services.requestDatabase(own.transaction, own.texts);
    return own.db;
  }

  get read(): Context["read"] {
    const own = this[state];
    return async (work) => {
      own.usedSystem = true; // the answer is not of the call's snapshot alone
      const reading = readInOwnTransaction(readerOf(own), (reader) => work(own.services.requestDatabase(reader)));
      return reading.catch(readOnly);
    };
  }

  /** @throws SvcError ANONYMOUS_BLOCKED in an anonymous call without an allow comment */
  get unsafeDb(): SystemDatabase {
    this[gate]?.open(unsafeDb);
    const own = this[state];
    own.usedSystem = true;
    const { systemDatabase, production } = own.services;
    own.unsafeDb ??= production ? systemDatabase : watchedCopy(systemDatabase);
    return own.unsafeDb;
  }

  get search(): ContextSearch["search"] {
    return searchOf(this).search;
  }

  get vectorSearch(): ContextSearch["vectorSearch"] {
    return searchOf(this).vectorSearch;
  }

  get hybridSearch(): ContextSearch["hybridSearch"] {
    return searchOf(this).hybridSearch;
  }

  get rag(): ContextRag {
    const { transaction, caller } = this[state];
    const userId = caller.session?.user.id ?? null;
    return { ...contextRag(transaction, userId, caller.system), ingestFile: ingestFile(this, userId) };
  }

  get grounding(): ContextGrounding {
    const { services, transaction, caller } = this[state];
    const judging = { ...services.grounding, log: this.log };
    return contextGrounding(transaction, caller.session?.user.id ?? null, () => readerOf(this[state]), judging);
  }

  get realtime(): ContextRealtime {
    const own = this[state];
    own.realtime ??= new CallRealtime(own.transaction, own.access, own.services, own.call);
    return own.realtime;
  }

  get scheduler(): ContextScheduler {
    const own = this[state];
    const { internals } = own.services;
    own.scheduler ??= new CallScheduler({ ...sharedOf(own), internals, requestId: own.caller.requestId });
    return own.scheduler;
  }

  get storage(): ContextStorage {
    const own = this[state];
    own.storage ??= new CallStorage(own.services.storage, own.transaction, own.access);
    return own.storage;
  }

  get workflows(): ContextWorkflows {
    const own = this[state];
    own.workflows ??= new CallWorkflows({ ...sharedOf(own), workflows: own.services.workflows });
    return own.workflows;
  }

  get rateLimit(): Context["rateLimit"] {
    return async (...call) => servicesOf(this[state]).rateLimit(this[state].caller, ...call);
  }

  get log(): Logger {
    const own = this[state];
    own.log ??= own.services.log.child({ requestId: own.caller.requestId });
    return own.log;
  }

  get auth(): ContextAuth {
    const { services, caller, call, transaction, access } = this[state];
    return contextAuth(caller, call, transaction, access, services.auth, services.production);
  }

  get [inProduction](): boolean {
    return this[state].services.production;
  }

  get baseUrl(): string {
    return this[state].services.baseUrl;
  }

  get address(): string {
    return this[state].caller.client?.().address ?? "";
  }

  get requestId(): string {
    return this[state].caller.requestId;
  }

  /** The same context, for code of an anonymous definition. */
  static behind<C extends Context>(context: C, its: AnonymousGate): C {
    return extend(context, { [gate]: its });
  }

  /** Runs the handler so that the AI module, which is imported and not passed, knows its caller. */
  static within<T>(context: CallContext, work: () => T): T {
    const { services, caller, transaction, call } = context[state];
    const make = (): AiCall => ({
      services: services.ai,
      userId: caller.session?.user.id ?? null,
      storage: context.storage,
      readFile: readFileOf(
        services.storage,
        readerOfCall(transaction, () => readerOf(context[state])),
      ),
      transaction,
    });
    transaction.call = call;
    return withAiCall(make, work, call);
  }

  /** Awaits the handler's scheduled jobs and sends its notifications. Called just before COMMIT. @param last as in `CallRealtime.flush` */
  static async tell(context: CallContext, last?: pg.QueryConfig): Promise<pg.QueryConfig | undefined> {
    await context[state].transaction.nested?.settle();
    await context[state].pendingWork?.settle();
    context[state].transaction.call = undefined;
    const { services, db, unsafeDb, realtime } = context[state];
    const rest = realtime ? await realtime.flush(last) : last;
    if (services.production) return rest;
    tellUnsent(context.log, "ctx.db", db);
    tellUnsent(context.log, "ctx.unsafeDb", unsafeDb);
    return rest;
  }

  /** The notifications that `tell` will send, as JSON. */
  static messages(context: CallContext): readonly string[] {
    const { messages, stored } = context[state].transaction;
    return [...messages, ...stored];
  }

  /** Deletes the bytes that a commit or rollback leaves unreferenced. Not called when the outcome is unknown. */
  static async ended(context: CallContext, how: "committed" | "rolledBack"): Promise<void> {
    await context[state].storage?.[how]();
  }

  /** Of a watched call: has the texts of its statements kept, for `reads`. */
  static keepTexts(context: CallContext): void {
    context[state].texts = new Set();
  }

  /** What is known of a handler's reads beside its transaction. */
  static reads(context: CallContext): { outside: boolean; texts: string[] } {
    const { usedSystem, texts } = context[state];
    return { outside: usedSystem === true, texts: [...(texts ?? [])] };
  }
}

/** A stream of the call may still use them after its end. @throws SvcError in the code of another call */
function servicesOf({ services, call }: CallContext[typeof state]): ContextServices {
  if (isAnotherCall(call)) throw misuseError("the context", usedElsewhere, services.production);
  return services;
}

const readerOf = (own: CallContext[typeof state]) => transactionFor(servicesOf(own), own.caller, "read");

/** What the members share whose calls need not be awaited. */
function sharedOf(own: CallContext[typeof state]) {
  own.pendingWork ??= new PendingWork();
  const { transaction, access, services, caller, pendingWork } = own;
  return { transaction, access, production: services.production, system: caller.system === true, pendingWork };
}

function searchOf(context: CallContext): ContextSearch {
  const { services, transaction, caller } = context[state];
  return contextSearch(services.searchTables, transaction, () => context.db, caller.session?.user.id ?? null);
}
