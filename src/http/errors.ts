/**
 * Converts errors to answers. A `SvcError` is sent to the caller; any other error becomes INTERNAL, and only the
 * request id connects the answer with the log. Under `svc dev` the answer has the cause, too.
 */
import type { ServerResponse } from "node:http";
import type { ErrorRequestHandler, RequestHandler } from "express";
import { type ErrorCode, errorCodes } from "../kit/error-codes.ts";
import { type Issue, SvcError } from "../kit/svc-error.ts";
import { databaseReason } from "../telemetry/describe-error.ts";
import { exchangeOf, sendJson } from "./exchange.ts";

/** The body of every error answer. */
interface ErrorBody {
  /** One sentence for a person. */
  error: string;
  code: ErrorCode;
  hint?: string;
  issues?: Issue[];
  /** The place of the failed call in a batch, from 0. */
  index?: number;
  /** Of ANSWER_NOT_KEPT: the short members of each answer. */
  answers?: unknown[];
  requestId: string;
}

function toErrorBody(error: SvcError, requestId: string): ErrorBody {
  return {
    error: error.message,
    code: error.code,
    ...(error.hint && { hint: error.hint }),
    ...(error.issues && { issues: error.issues }),
    ...(error.index !== undefined && { index: error.index }),
    ...(error.answers && { answers: error.answers }),
    requestId,
  };
}

/** Converts any thrown value to a `SvcError`. */
export function toSvcError(thrown: unknown): SvcError {
  if (thrown instanceof SvcError) return thrown;
  // Express and its parsers set a status on client errors, for example for a path that cannot be decoded.
  const status = (thrown as { status?: unknown } | null)?.status;
  if (typeof status === "number" && status >= 400 && status < 500)
    return new SvcError("BAD_REQUEST", undefined, { cause: thrown });
  return new SvcError("INTERNAL", undefined, { cause: thrown });
}

/** Answers with an error as JSON, in the same format for every thrown value. */
export function sendError(response: ServerResponse, thrown: unknown): void {
  try {
    answer(response, toSvcError(thrown));
  } catch (cause) {
    // Parts of the error come from the application, such as an issue that holds a bigint: JSON has none. Without an
    // answer the client would wait.
    answer(response, new SvcError("INTERNAL", undefined, { cause }));
  }
}

function answer(response: ServerResponse, error: SvcError): void {
  const exchange = exchangeOf(response);
  exchange.error = error;
  // Part of the answer is sent: only a broken connection tells the client of the error.
  if (response.headersSent) return void response.destroy();

  const body = toErrorBody(error, exchange.requestId);
  const { authorization } = response.req.headers;
  if (isAnonymous(error) && authorization !== undefined) {
    body.hint ??= /^Bearer ./i.test(authorization) ? staleCredential : noBearer;
  }
  const { cause } = error;
  // A refusal in the application's own words (AP409) is no failure, whether a handler or a function refuses.
  const reason = databaseReason(cause);
  const isFailure = error.status >= 500 || (reason !== undefined && !reason.startsWith("AP"));
  if (exchange.showCause && isFailure && cause !== undefined) {
    const shown = exchange.showCause(cause, exchange.operation);
    body.hint = body.hint && !shown.includes(body.hint) ? `${body.hint}\n${shown}` : shown;
  }
  sendJson(response, error.status, JSON.stringify(body), errorHeaders(error));
}

const isAnonymous = ({ code, message }: SvcError) =>
  code === "UNAUTHORIZED" && message === errorCodes.UNAUTHORIZED.message;

/** The same for every reason, so that it tells nothing about a session. */
const staleCredential =
  "The credential in Authorization is not valid, or has expired. Refresh the token, or sign in again.";

const noBearer = "Write the token behind its scheme, as in `Authorization: Bearer <token>`.";

export const errorHeaders = (error: SvcError) => ({
  // The header takes whole seconds.
  ...(Number.isFinite(error.retryAfter) && { "retry-after": String(Math.max(Math.ceil(error.retryAfter ?? 0), 0)) }),
  ...(error.code === "UNAUTHORIZED" && { "www-authenticate": "Bearer" }),
});

/** Express's last handler: sends the errors of all others. */
export const renderError: ErrorRequestHandler = (thrown, _request, response, _next) => sendError(response, thrown);

/** The last route: no other one has answered. */
export const notFound: RequestHandler = ({ method, path }, _response, next) => {
  const hint = misuse(method, path);
  next(new SvcError("NOT_FOUND", `There is no ${method} ${path.slice(0, 200)} here.`, hint ? { hint } : {}));
};

/** A hint for a platform path that is called in a wrong way. */
function misuse(method: string, path: string): string | undefined {
  if (path === "/ws" || path === "/api/realtime") {
    return "This is a WebSocket, and no upgrade was asked for: a proxy in front has to pass Upgrade and Connection on.";
  }
  if (/^\/api\/(api|ws)\b/.test(path)) return "The baseUrl of a client is the service's origin alone, without /api.";
  if (path === "/graphql") return "GraphQL is at /api/graphql.";
  if (!/^\/api\/(query|mutation)(\/|$)/.test(path)) return path.startsWith("/api/") ? procedurePaths : undefined;
  return method === "POST"
    ? "Check the procedure's name, and that queries go to /api/query and mutations to /api/mutation."
    : "Check the procedure's name. Procedures are called with POST.";
}

const procedurePaths =
  "Procedures are called with POST at /api/query/<name> and /api/mutation/<name>, such as /api/query/notes.list; " +
  "docs/reference/http-routes.md lists the other paths.";

const noRoom = "There is no room for this at the moment.";
const noFiles = "Files cannot be stored or read at the moment.";

/** Errors of a disk that an operator repairs: full, read-only, of another owner, broken, unmounted, or a network folder that is gone. */
const diskErrors: Partial<Record<string, string>> = {
  ENOSPC: noRoom,
  EDQUOT: noRoom,
  EROFS: noFiles,
  EACCES: noFiles,
  ENOTSUP: noFiles,
  EIO: noFiles,
  ESTALE: noFiles,
  FOLDER_GONE: noFiles,
};

/** Answers an error of the disk with 503: it is not the sender's. @returns any other error unchanged */
export function diskFailure(error: unknown): unknown {
  const message = diskErrors[String((error as NodeJS.ErrnoException).code)];
  return message ? new SvcError("UNAVAILABLE", message, { retryAfter: 60, cause: error }) : error;
}
