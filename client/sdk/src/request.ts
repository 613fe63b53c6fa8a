/**
 * One request to the service with `fetch`: resolves to JSON, or rejects with a typed error within the timeout.
 * Next hop: none, this is the edge.
 */
import { SvcError, type SvcErrorDetails } from "./error.ts";

/** Settings of requests. */
export interface Transport {
  /** Without a trailing slash; "" is the page's own origin. */
  baseUrl: string;
  fetch: typeof globalThis.fetch;
}

/** @param origin as an application passes it @throws TypeError for anything but an address of HTTP, a path or "" */
export function baseOf(origin: string): string {
  const base = `${origin}`;
  if (/^(https?:\/\/|\/|$)/.test(base)) return base.replace(/\/+$/, "");
  throw new TypeError(
    `baseUrl is ${origin}. Pass the service's origin, such as "https://api.example.com", or "" for the page's own.`,
  );
}

/** @throws TypeError for anything but a path */
export function urlOf({ baseUrl }: Transport, path: string): string {
  if (/^\//.test(path)) return baseUrl + path;
  throw new TypeError(`${path} is not a path such as "/api/hello".`);
}

export interface RequestOptions {
  method?: "GET" | "POST" | "DELETE";
  headers?: Record<string, string>;
  body?: string | FormData;
  /** Whether cookies are sent. (Default: "omit") */
  credentials?: RequestInit["credentials"];
  signal: AbortSignal;
  /** Gets the headers of a 2xx answer. */
  answered?: ((headers: Headers) => void) | undefined;
}

/**
 * Sends a request and reads the answer.
 *
 * @returns the body of a 2xx answer
 * @throws SvcError in all other cases, or the signal's reason; TypeError for anything but a path
 */
export async function request(transport: Transport, path: string, options: RequestOptions): Promise<unknown> {
  const { method = "POST", headers, body, credentials = "omit", signal } = options;
  const url = urlOf(transport, path);
  let response: Response;
  let text: string;
  try {
    const init = { method, headers, body, credentials, signal, cache: "no-store" } as RequestInit;
    response = await transport.fetch(url, init);
    text = await response.text();
    if (response.ok) options.answered?.(response.headers);
  } catch (cause) {
    throw failure(signal, cause);
  }
  const answer = parse(text);
  if (response.ok && answer !== undefined) return answer;
  throw toError(response, text);
}

/** Why `fetch` rejected: the signal or the network. Browsers give no more details. */
export function failure(signal: AbortSignal, cause: unknown): unknown {
  if (signal.aborted) return signal.reason;
  return new SvcError("NETWORK_ERROR", "The service cannot be reached.", {
    hint: "Check the connection, and that the service runs and lists this origin under frontendOrigins.",
    cause,
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error of a refused call, from the service or from a proxy in front of it. */
export function toError(response: Response, text: string): SvcError {
  const answer = parse(text);
  const { status } = response;
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const details = { status, ...(Number.isFinite(seconds) && { retryAfter: seconds }) };
  if (typeof answer === "object" && answer !== null && "code" in answer && "error" in answer) {
    const { code, error, issues, ...others } = answer as SvcErrorDetails & { code: unknown; error: unknown };
    return new SvcError(String(code), String(error), {
      ...others,
      ...(Array.isArray(issues) && { issues }),
      ...details,
    });
  }
  if (status >= 502 && status <= 504) return new SvcError("UNAVAILABLE", "The service cannot be reached.", details);
  return new SvcError("INVALID_ANSWER", "The answer is not one of the service's.", {
    ...details,
    hint: "A proxy or another server may have answered: check baseUrl.",
  });
}

/** As for `fetch`, with headers as an object. */
export type RouteInit = { [Name in keyof Omit<RequestInit, "headers">]?: RequestInit[Name] | undefined } & {
  headers?: Record<string, string> | undefined;
};
