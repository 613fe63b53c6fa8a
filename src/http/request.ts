/** The request as route handlers and middleware see it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { SvcRequest } from "../contract/request.ts";
import { isJson } from "../kit/media-type.ts";
import { SvcError } from "../kit/svc-error.ts";
import { type BodyLimits, mediaType, parseJson, readBody } from "./body.ts";
import { parseForm, readForm, routeParts } from "./form.ts";
import { leftSignal } from "./left-signal.ts";

/** The text after the first "?"; values may contain further ones. */
export const queryText = (url: string) => (url.includes("?") ? url.slice(url.indexOf("?") + 1) : "");

/** A request to a route. */
export interface RoutedRequest {
  request: IncomingMessage;
  response: ServerResponse;
  /** Without the query. */
  path: string;
  /** Decoded. */
  params: Record<string, string>;
  /** Of the client. */
  address: string | undefined;
}

/** Wraps a request. The body is read at most once, whichever readers are called, and how often. */
export function toSvcRequest(from: RoutedRequest, limits: BodyLimits): SvcRequest {
  const { request, response, path, params, address } = from;
  const type = mediaType(request);
  // Parsed fields of a urlencoded form take many times their bytes.
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
  return Object.assign(new Requested(response), {
    address: address ?? "",
    method: request.method ?? "",
    path,
    params,
    query: Object.fromEntries(new URLSearchParams(queryText(request.url ?? ""))),
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
    ) as Record<string, string>,
    json: async () => parseJson(await bytes()),
    async formData() {
      if (type !== "multipart/form-data" && type !== "application/x-www-form-urlencoded") {
        throw new SvcError("UNSUPPORTED_MEDIA_TYPE", undefined, { hint: "Send multipart/form-data." });
      }
      form ??= readFormOnce();
      // Each reader gets its own copy, which it may change.
      const own = new FormData();
      for (const [name, value] of (await form).entries()) own.append(name, value);
      return own;
    },
    arrayBuffer: async () => new Uint8Array(await bytes()).buffer,
    text: async () => (await bytes()).toString("utf8"),
  });
}

/** Makes the signal when it is used. A getter of an object literal would keep each request until V8's next full collection. */
class Requested {
  readonly #response: ServerResponse;
  #signal: AbortSignal | undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get signal(): AbortSignal {
    this.#signal ??= leftSignal(this.#response);
    return this.#signal;
  }
}
