/** The request as route handlers and middleware see it. */
import type { Request } from "express";
import { SvcError } from "../kit/svc-error.ts";
import { type BodyLimits, isJson, mediaType, parseJson, readBody } from "./body.ts";
import { parseForm, readForm, routeParts } from "./form.ts";

export interface SvcRequest<Params = Record<string, string>> {
  /** Upper case. */
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Path parameters, decoded. */
  readonly params: Params;
  /** Query parameters; of a repeated one, the last. */
  readonly query: Record<string, string>;
  /** Names in lower case; several values of one name are joined by a comma. */
  readonly headers: Record<string, string>;
  /** Aborted when the client goes away before it has the whole answer: for what a handler, or its stream, waits for. */
  readonly signal: AbortSignal;
  /** The parsed JSON body. @throws SvcError INVALID_JSON */
  json(): Promise<unknown>;
  /**
   * Fields and files of a form, 1,000 at most. Large files of a multipart form lie on disk until the response has closed:
   * store what is needed later. No other reader can follow it there, because the body is not kept as a whole.
   *
   * @throws SvcError UNSUPPORTED_MEDIA_TYPE, BAD_REQUEST, PAYLOAD_TOO_LARGE
   */
  formData(): Promise<FormData>;
  arrayBuffer(): Promise<ArrayBuffer>;
  text(): Promise<string>;
}

/** All behind the first "?"; the values may hold more of them. */
const queryText = (url: string) => (url.includes("?") ? url.slice(url.indexOf("?") + 1) : "");

function leavingOf({ res: response }: Request): AbortSignal {
  const controller = new AbortController();
  const note = () => {
    if (!response?.writableFinished) controller.abort(new Error("The client has gone."));
  };
  if (response?.closed) note();
  else response?.once("close", note);
  return controller.signal;
}

/** Wraps an Express request. The body is read at most once, whichever readers are used, and how often. */
export function toSvcRequest(request: Request, limits: BodyLimits): SvcRequest {
  const type = mediaType(request);
  // Fields of a urlencoded form cost many times their bytes.
  const isText = isJson(type) || type.startsWith("text/") || type === "application/x-www-form-urlencoded";
  const limit = isText ? limits.jsonBytes : limits.multipartBytes;
  let body: Promise<Buffer> | undefined;
  let form: Promise<FormData> | undefined;
  const bytes = () => {
    if (form && !body) throw new Error("The form was read with formData(): no other reader can follow.");
    body ??= readBody(request, limit);
    return body;
  };
  const readFormOnce = async () => {
    const type = request.headers["content-type"] ?? "";
    if (body || isText) return parseForm(await bytes(), type);
    return readForm(request, { ...limits, maxParts: routeParts });
  };
  let signal: AbortSignal | undefined;
  return {
    get signal() {
      signal ??= leavingOf(request);
      return signal;
    },
    method: request.method,
    path: request.path,
    params: request.params as Record<string, string>,
    query: Object.fromEntries(new URLSearchParams(queryText(request.url))),
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
    ) as Record<string, string>,
    json: async () => parseJson(await bytes()),
    async formData() {
      if (type !== "multipart/form-data" && type !== "application/x-www-form-urlencoded") {
        throw new SvcError("UNSUPPORTED_MEDIA_TYPE", undefined, { hint: "Send multipart/form-data." });
      }
      form ??= readFormOnce();
      // Each reader gets a form of its own, which it may change.
      const own = new FormData();
      for (const [name, value] of (await form).entries()) own.append(name, value);
      return own;
    },
    arrayBuffer: async () => new Uint8Array(await bytes()).buffer,
    text: async () => (await bytes()).toString("utf8"),
  };
}
