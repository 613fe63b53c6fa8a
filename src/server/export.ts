/**
 * `GET /api/export/<resource>.csv` and `.ndjson`: every row that the caller may see, as a stream. A client that stops reading for
 * `limits.idleInTransactionMs` is cut off, and so is an export after `limits.exportMs`: it holds a connection and a snapshot.
 * Next hop: `src/transfer/export-rows.ts`.
 */

import type { ServerResponse } from "node:http";
import { admit, type Runtime, requireSessionOf } from "../call/invoke.ts";
import type { Api } from "../contract/api.ts";
import type { CrudDefinition } from "../contract/crud.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { toSvcError } from "../http/errors.ts";
import { callerOf, exchangeOf } from "../http/exchange.ts";
import { queryText } from "../http/request.ts";
import { jsonIn } from "../kit/json-in.ts";
import { SvcError } from "../kit/svc-error.ts";
import { identityOf } from "../postgres/identity.ts";
import { RequestTransaction } from "../postgres/transaction.ts";
import { exportRows, type Format, isFormat, mediaTypes } from "../transfer/export-rows.ts";
import type { ProcedureTransport } from "./procedures.ts";
import type { SessionStreams } from "./session-streams.ts";

const prefix = "/api/export/";

export const isExportPath = (path: string) => path.startsWith(prefix);

export interface ExportLimits {
  /** Exports of this process at once; a caller may have half of them, rounded up. */
  exports: number;
  /** In milliseconds. */
  exportMs: number;
}

type Transport = Pick<ProcedureTransport, "authenticate" | "runtime" | "requests" | "procedures"> & {
  api: Api;
  limits: ExportLimits;
  streams: SessionStreams;
};

export function exportEndpoint(transport: Transport): Endpoint {
  const { api, authenticate, runtime, requests, procedures, limits, streams } = transport;
  const slots = new Slots(Math.max(1, Math.min(limits.exports, Math.floor(poolSize(runtime) / 2))));
  return async (request, response) => {
    const { url = "" } = request;
    const [path = ""] = url.split("?", 1);
    const { crud, format } = find(api, path, runtime.production);
    exchangeOf(response).operation = `${crud.prefix}.export`;
    const session = await authenticate(request.headers, "read");
    exchangeOf(response).session = session;
    streams.begin(response, session);
    const caller = callerOf(request, response, session, requests);
    admit(session, { anonymous: crud.anonymous, kind: "query", crud });
    const { args, spreadsheet } = readQuery(new URLSearchParams(queryText(url)), format);
    const list = procedures.get(`${crud.prefix}.list`)?.statement;
    if (list) requireSessionOf(list, args, session);

    const leave = slots.take(caller.holder ?? "");
    streams.stream(response);
    const { requestPool, limits: own } = runtime;
    // This process ends an idle export first; the database does it for a process that hangs.
    const limited = { ...own, idleInTransactionMs: own.idleInTransactionMs + 1_000 };
    const transaction = new RequestTransaction(requestPool, identityOf(caller), "read", limited);
    try {
      await send(response, exportRows(crud, transaction, { format, args, spreadsheet }), {
        head: {
          "content-type": mediaTypes[format],
          "content-disposition": `attachment; filename="${crud.prefix}.${format}"`,
          "cache-control": "no-store",
        },
        idleMs: runtime.limits.idleInTransactionMs,
        totalMs: limits.exportMs,
      });
    } catch (error) {
      throw transaction.explain(error);
    } finally {
      await transaction.rollback(); // it has only read
      leave();
    }
    // Only now: the client's next export finds a place.
    if (!response.destroyed) response.end();
  };
}

const poolSize = ({ requestPool }: Runtime) => requestPool.options.max ?? 10;

function find(api: Api, path: string, production: boolean): { crud: CrudDefinition; format: Format } {
  const [, name, format] = /^([A-Za-z_]\w*)\.(\w+)$/.exec(path.slice(prefix.length)) ?? [];
  const resources = api["~svc"].crud.filter(({ transfer, methods }) => transfer.export && methods.includes("list"));
  const crud = resources.find((one) => one.prefix === name);
  if (crud && isFormat(format)) return { crud, format };
  const names = resources.map((one) => `${one.prefix}.csv`).join(", ");
  const known = names ? `The exports are ${names}; or .ndjson.` : "No resource has transfer: { export: true }.";
  throw new SvcError("NOT_FOUND", "There is no such export.", {
    hint: production ? "The path ends in <resource>.csv or <resource>.ndjson." : known,
  });
}

const parameters = ["filters", "search", "orderBy", "orderDir"] as const;

/** @throws SvcError VALIDATION_FAILED. A misspelled parameter must not export every row. */
function readQuery(query: URLSearchParams, format: Format): { args: Record<string, unknown>; spreadsheet: boolean } {
  const refuse = (path: string, message: string): never => {
    throw new SvcError("VALIDATION_FAILED", undefined, { issues: [{ path: [path], message }] });
  };
  const known = [...parameters, ...(format === "csv" ? ["spreadsheet"] : [])];
  for (const name of query.keys()) {
    if (!known.includes(name)) refuse(name, `is not a parameter of this export: it takes ${known.join(", ")}`);
    if (query.getAll(name).length > 1) refuse(name, "is given twice");
  }
  const args: Record<string, unknown> = {};
  for (const name of parameters) if (query.has(name)) args[name] = query.get(name);
  if (args.filters !== undefined) {
    args.filters = jsonIn(String(args.filters));
    if (args.filters === undefined) refuse("filters", 'must be JSON, such as {"status":"open"}');
  }
  const spreadsheet = query.get("spreadsheet") ?? "false";
  if (!["true", "false"].includes(spreadsheet)) refuse("spreadsheet", "must be true or false");
  return { args, spreadsheet: spreadsheet === "true" };
}

interface Sending {
  head: Record<string, string>;
  idleMs: number;
  totalMs: number;
}

/**
 * Sends the pieces as fast as the client reads. The caller ends the answer. An error before the first piece is thrown. A
 * later error, or a client that is too slow, cuts the answer: then the end of its chunked coding is missing.
 */
async function send(response: ServerResponse, pieces: AsyncIterable<string>, { head, idleMs, totalMs }: Sending) {
  const exchange = exchangeOf(response);
  const cut = (error: unknown) => {
    exchange.error = toSvcError(error);
    response.destroy();
  };
  const late = (code: "TIMEOUT" | "REQUEST_TIMEOUT", message: string) => () => cut(new SvcError(code, message));
  let proceed = () => {};
  response.on("drain", () => proceed()).once("close", () => proceed());
  const total = setTimeout(late("TIMEOUT", `The export took longer than ${totalMs} ms (limits.exportMs).`), totalMs);
  try {
    for await (const piece of pieces) {
      if (response.destroyed) return;
      if (!response.headersSent) response.writeHead(200, { ...exchange.headers, ...head });
      if (response.write(piece)) continue;
      const idle = setTimeout(
        late("REQUEST_TIMEOUT", `The client read nothing for ${idleMs} ms (limits.idleInTransactionMs).`),
        idleMs,
      );
      await new Promise<void>((resolve) => {
        proceed = resolve;
      });
      clearTimeout(idle);
      if (response.destroyed) return;
    }
    if (!response.headersSent) response.writeHead(200, { ...exchange.headers, ...head });
  } catch (error) {
    if (!response.headersSent && !response.destroyed) throw error;
    cut(error);
  } finally {
    clearTimeout(total);
  }
}

class Slots {
  readonly #most: number;
  /** The holder of each slot that is taken. */
  readonly #held: string[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns the function that gives the slot back @throws SvcError UNAVAILABLE */
  take(holder: string): () => void {
    const own = this.#held.filter((one) => one === holder).length;
    if (this.#held.length >= this.#most || own >= Math.ceil(this.#most / 2)) {
      throw new SvcError("UNAVAILABLE", "Too many exports are under way.", {
        retryAfter: 10,
        hint: "Wait until one has ended. The operator can raise limits.exports and pool.request.",
      });
    }
    this.#held.push(holder);
    return () => void this.#held.splice(this.#held.indexOf(holder), 1);
  }
}
