/**
 * `POST /api/query` and `POST /api/mutation`: decodes a body, finds and runs the procedure, encodes the result.
 * Next hop: `src/call/invoke.ts`.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { invokeKeyed } from "../call/batch.ts";
import { admit, checkOutput, invoke, invokeStatement, isGenerated, type Runtime } from "../call/invoke.ts";
import { keyOf } from "../call/keyed-calls.ts";
import type { Caller } from "../contract/caller.ts";
import type { ProcedureDefinition, ProcedureKind } from "../contract/procedure.ts";
import { noteIgnored } from "../crud/ignored-input.ts";
import { type BodyLimits, mediaType, parseJson, readBody } from "../http/body.ts";
import { callerOf, exchangeOf, sendJson } from "../http/exchange.ts";
import { readForm } from "../http/form.ts";
import type { RequestLimits } from "../http/request-limits.ts";
import {
  decodeCall,
  decodeForm,
  encodeJsonText,
  encodeResult,
  type ProcedureCall,
  wireLimits,
  withMembers,
} from "../http/wire.ts";
import { jsonIn } from "../kit/json-in.ts";
import { isJson } from "../kit/media-type.ts";
import { didYouMean } from "../kit/nearest.ts";
import type { Authenticate, Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Replicas } from "../postgres/replicas.ts";
import { callerTeams } from "../realtime/caller-teams.ts";
import type { FollowedReads, Seen } from "../realtime/followed-reads.ts";
import { positionOf, readSomewhere } from "./replica-reads.ts";

export interface ProcedureTransport {
  procedures: ReadonlyMap<string, ProcedureDefinition>;
  authenticate: Authenticate;
  runtime: Runtime;
  requests: Pick<RequestLimits, "addressOf" | "holderOf" | "countCalls">;
  limits: BodyLimits;
  /** Says what those who watch a query hear of. */
  reads: Pick<FollowedReads, "describe" | "scopes">;
  /** Standbys for queries. (Default: none) */
  replicas?: Replicas | undefined;
}

/**
 * Handles one of the two paths, and the paths below it.
 *
 * @param kind  the kind of procedure that this path may call
 * @param named the procedure, if the path names it (docs/adr/0010-a-path-for-each-procedure.md). (Default: the body does)
 */
export function procedureEndpoint(
  transport: ProcedureTransport,
  kind: "query" | "mutation",
): (request: IncomingMessage, response: ServerResponse, named?: string) => Promise<void> {
  const { authenticate, requests, runtime } = transport;
  return async (request, response, named) => {
    const exchange = exchangeOf(response);
    const unnamed = exchange.operation;
    exchange.operation = named ?? `/api/${kind}`; // until the procedure is looked for
    const found = authenticate(request.headers, kind === "query" ? "read" : "write");
    const session = found instanceof Promise ? await found : found;
    exchange.session = session;
    const key = kind === "mutation" ? keyOf(request.headers, session) : undefined;
    exchange.operation = unnamed;
    const { procedure, args, watch } = await admitCall(transport, kind, { request, response, session, named });
    const call: Call = { procedure, args, caller: callerOf(request, response, session, requests), key };
    const ignored = runtime.production || key !== undefined ? undefined : noteIgnored(runtime.log, procedure, args);
    const { body, notice, ...answered } = await reply(transport, call, watch, request.headers["svc-position"]);
    const notices = [ignored, notice].filter(Boolean).join("\n");
    const text = notices ? withMembers(body, { notice: notices }) : body;
    sendJson(response, 200, text, answerHeaders(answered));
  };
}

export const answerHeaders = ({
  position,
  replayed,
}: Pick<Reply, "position" | "replayed">): Record<string, string> => ({
  ...(position !== undefined && { "svc-position": position }),
  ...(replayed && { "idempotent-replayed": "true" }),
});

/** What a client calls, and who it is. */
interface Call {
  procedure: ProcedureDefinition;
  args: unknown;
  caller: Caller;
  /** Idempotency key of a mutation. */
  key?: string | undefined;
}

interface Reply {
  body: string;
  /** For the developer, in the answer. */
  notice?: string | undefined;
  /** Of the server that answered, for the header. */
  position?: string | undefined;
  /** Whether the body is that of an earlier request with the same key, for the header. */
  replayed?: boolean;
}

/**
 * Reads the call and finds its procedure. A call that will not run is refused before more than 16 KiB of it are held.
 *
 * @throws SvcError NOT_FOUND, UNAUTHORIZED, and those of a body that cannot be read
 */
async function admitCall(
  transport: ProcedureTransport,
  kind: "query" | "mutation",
  from: { request: IncomingMessage; response: ServerResponse; session: Session | null; named: string | undefined },
): Promise<Pick<Call, "procedure" | "args"> & { watch?: boolean | undefined }> {
  const { request, response, session, named } = from;
  const find = (name: string) => {
    const procedure = findProcedure(transport, name, kind);
    exchangeOf(response).operation = procedure.name;
    admit(session, procedure);
    return procedure;
  };
  if (named !== undefined) find(named);
  const admitLarge = session || named !== undefined ? undefined : (start: Buffer) => void find(nameIn(start));
  const { name, args, watch } = await readCall(request, transport.limits, kind, named, admitLarge);
  return { procedure: find(name), args, watch };
}

/** @param positionHeader the header `svc-position` */
async function reply(
  transport: ProcedureTransport,
  call: Call,
  watch: boolean | undefined,
  positionHeader: string | string[] | undefined,
): Promise<Reply> {
  const { runtime, replicas } = transport;
  // By the primary: a watched result is compared with the primary's events.
  if (watch && call.procedure.kind === "query") return answerWatched(transport, call);
  if (call.key !== undefined) return answerKeyed(transport, call, call.key);
  if (replicas) return answerSomewhere(runtime, replicas, call, String(positionHeader ?? ""));
  return { body: await answer(runtime, call.procedure, call.args, call.caller) };
}

async function answerKeyed({ runtime, replicas }: ProcedureTransport, call: Call, key: string): Promise<Reply> {
  const { procedure, args: input, caller } = call;
  const { results, replayed } = await invokeKeyed(runtime, { procedure, input }, caller, key);
  return { body: results[0] as string, replayed, position: replicas && (await positionOf(replicas)) };
}

/** The position that the client sent chooses between the primary and a standby; after a mutation it gets a new one. */
async function answerSomewhere(
  runtime: Runtime,
  replicas: Replicas,
  { procedure, args, caller }: Call,
  positionHeader: string,
): Promise<Reply> {
  const run = (where: Runtime) => answer(where, procedure, args, caller);
  if (procedure.kind !== "query") return { body: await run(runtime), position: await positionOf(replicas) };
  const user = caller.session?.user.id ?? "";
  return readSomewhere(replicas, runtime, { positionHeader, user, generated: isGenerated(procedure), run });
}

/** Says with the result what its watcher has to follow. */
async function answerWatched({ runtime, reads }: ProcedureTransport, call: Call): Promise<Reply> {
  const { procedure, args, caller } = call;
  let seen: Seen | undefined;
  const body = await answer(runtime, procedure, args, caller, (one) => {
    seen = one;
  });
  if (!seen) return { body };
  const user = caller.session?.user.id ?? null;
  const teams = await callerTeams(runtime.requestPool, caller, reads.scopes(seen.reads));
  const { notice, ...members } = reads.describe(procedure, seen.reads, user, teams, args);
  return { body: withMembers(body, { snapshot: seen.snapshot, ...members }), notice };
}

/** Runs a call and encodes its result. @param watched called with what it was read from */
export async function answer(
  runtime: Runtime,
  procedure: ProcedureDefinition,
  input: unknown,
  caller: Caller,
  watched?: (seen: Seen) => void,
): Promise<string> {
  if (isGenerated(procedure)) return encodeJsonText(await invokeStatement(runtime, procedure, input, caller, watched));
  return invoke(runtime, {
    ...(watched && { watched }),
    caller,
    input,
    access: procedure.kind === "query" ? "read" : "write",
    anonymous: procedure.anonymous,
    scope: procedure.scope,
    definedAt: procedure.definedAt,
    run: procedure.run,
    encode: async (result) => encodeResult(await checkOutput(procedure.output, result)),
  });
}

async function readCall(
  request: IncomingMessage,
  { jsonBytes, multipartBytes }: BodyLimits,
  kind: ProcedureKind,
  named: string | undefined,
  onLarge: ((start: Buffer) => void) | undefined,
): Promise<ProcedureCall> {
  const type = mediaType(request);
  // The first comparison is enough for nearly all calls: docs/explanation/request.md lists the files that they run through.
  if (type === "application/json" || isJson(type))
    return decodeCall(parseJson(await readBody(request, jsonBytes, onLarge)), named);
  if (type === "multipart/form-data" && kind === "mutation") {
    const { parts: maxParts, files: maxFiles } = wireLimits;
    const limits = { jsonBytes, multipartBytes, maxParts, maxFiles, onLarge };
    return decodeForm(await readForm(request, limits), named);
  }
  throw new SvcError("UNSUPPORTED_MEDIA_TYPE", undefined, {
    hint: kind === "mutation" ? "Send application/json, or multipart/form-data with files." : "Send application/json.",
  });
}

/** The name at the start of a call's body: in JSON, and in the form part `data`. */
const leadingName = /^\uFEFF?\s*\{\s*(?:"json"\s*:\s*\{\s*)?"name"\s*:\s*("(?:[^"\\]|\\[\s\S]){0,800}")/;

/**
 * Finds the procedure of a call without a session in its first 16 KiB. The check is repeated with the complete call.
 *
 * @throws SvcError PAYLOAD_TOO_LARGE if the name is not there
 */
function nameIn(start: Buffer): string {
  const [, written = ""] = leadingName.exec(start.toString("utf8")) ?? [];
  const name = jsonIn(written); // with an escape that JSON does not have, it names no procedure
  if (typeof name === "string") return name;
  throw new SvcError("PAYLOAD_TOO_LARGE", "The beginning of this call does not name a procedure.", {
    hint:
      'Without a session, calls above 16 KiB must send the name first: {"name": …, "args": …}, in a form in its first part, ' +
      "`data`. Or call the procedure by its own path, such as /api/mutation/tasks.create.",
  });
}

/**
 * Unknown, internal and wrong-kind names get the same answer, so that internal procedures are not disclosed. In
 * development, the hint says what the name is, or suggests one.
 */
export function findProcedure({ procedures, runtime }: ProcedureTransport, name: string, kind: ProcedureKind) {
  const procedure = procedures.get(name);
  if (procedure?.kind === kind) return procedure;
  throw new SvcError("NOT_FOUND", `There is no ${kind} of that name.`, {
    hint:
      (!runtime.production && probable([...procedures.values()], name, kind)) ||
      "Check the name, and that queries go to /api/query and mutations to /api/mutation.",
    // During a release the next call may reach a process that has the query. Pages that watch it ask again.
    ...(kind === "query" && { retryAfter: 5 }),
  });
}

/** Internal procedures cannot be called from outside, so they are not suggested for another name. */
function probable(procedures: ProcedureDefinition[], name: string, kind: ProcedureKind): string | undefined {
  const same = procedures.find((procedure) => procedure.name === name);
  if (same?.kind === "internal") {
    return `${name} is internal: only the scheduler, crons and workflows run it. For clients, define a query or mutation.`;
  }
  if (same) return `${name} is a ${same.kind}: send it to /api/${same.kind}.`;
  if (name.length > 128) return undefined;
  const known = procedures.filter((procedure) => procedure.kind === kind).map((procedure) => procedure.name);
  return `${didYouMean(name, known)} Clients may call what defineApi() lists under procedures.`;
}
