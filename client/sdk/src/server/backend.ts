/**
 * The backend's authentication endpoints, called from server to server.
 * Next hop: `src/auth/routes/token-style.ts` of the backend.
 */
import { SvcError } from "../error.ts";

/** The backend's answer; its refusals are passed on unchanged. */
export interface BackendAnswer {
  status: number;
  body: Record<string, unknown>;
  retryAfter: string | null;
}

export interface BackendCall {
  path: "/sign-in" | "/sign-up" | "/token" | "/sign-out" | "/oauth/exchange";
  headers: Record<string, string>;
  /** TypeScript before 5.7 has no `Uint8Array<ArrayBuffer>`. */
  body?: ReturnType<TextEncoder["encode"]>;
}

export type Backend = (call: BackendCall) => Promise<BackendAnswer>;

/** In milliseconds. A user waits for a form meanwhile. */
const patience = 20_000;

/** @param baseUrl the backend's origin, without a slash at the end */
export function createBackend(baseUrl: string): Backend {
  /** @throws SvcError UNAVAILABLE if there is no answer, or it is not from the service */
  return async ({ path, headers, body }) => {
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${baseUrl}/api/auth${path}`, {
        method: "POST",
        headers: { ...headers, ...(body && { "content-type": "application/json" }) },
        ...(body && { body }),
        cache: "no-store",
        // Never follow redirects: they could lead the session token to another host.
        redirect: "manual",
        signal: AbortSignal.timeout(patience),
      });
      text = await response.text();
    } catch (cause) {
      throw unavailable("The backend cannot be reached.", cause);
    }
    const answer = parse(text);
    if (!answer || (!response.ok && response.status < 400)) throw unavailable("The answer is not from an svc backend.");
    return { status: response.status, body: answer, retryAfter: response.headers.get("retry-after") };
  };
}

export function unavailable(message: string, cause?: unknown): SvcError {
  return new SvcError("UNAVAILABLE", message, {
    status: 503,
    hint: "Try again shortly. If it stays so, check the bridge's baseUrl, and that the backend runs.",
    cause,
  });
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
