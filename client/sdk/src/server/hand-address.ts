/**
 * Sends the visitor's address to the backend. It is signed with a secret that bridge and backend share, for this
 * request and for a minute. Without it the backend's limits count all visitors together.
 * Next hop: `src/http/signed-client-address.ts` of the backend reads it.
 */
import type { BackendCall } from "./backend.ts";

export interface ClientAddressOptions {
  /** The backend's SVC_BRIDGE_SECRET; at least 32 characters, from the environment. */
  secret: string | undefined;
  /**
   * The visitor's IP address, as this server or the proxy in front of it saw it; never one that the visitor may choose.
   * Return nothing if it is unknown.
   */
  from: (request: Request) => string | null | undefined;
}

/** @returns the header for a call, or none */
export type HandAddress = (request: Request, call: BackendCall) => Promise<Record<string, string>>;

/** In characters; the backend requires the same. */
const shortest = 32;

/** @throws TypeError for invalid settings; the message contains no secret */
export function createHandAddress(options: ClientAddressOptions | undefined): HandAddress {
  if (options === undefined) return async () => ({});
  const { secret, from } = options;
  if (typeof secret !== "string" || secret.length < shortest) {
    throw new TypeError(
      `The bridge's clientAddress needs a secret of at least ${shortest} characters, the backend's SVC_BRIDGE_SECRET. ` +
        "Is its environment variable set?",
    );
  }
  if (typeof from !== "function") throw new TypeError("The bridge's clientAddress.from has to be a function.");
  const { subtle } = crypto;
  const key = subtle.importKey("raw", bytes(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);

  return async (request, { path, headers, body }): Promise<Record<string, string>> => {
    const address = bare(from(request) ?? "");
    if (!/^[0-9A-Fa-f:.]{2,45}$/.test(address)) return {};
    const seconds = String(Math.floor(Date.now() / 1000));
    const digest = base64url(await subtle.digest("SHA-256", body ?? new Uint8Array()));
    const known = ["v1", address, seconds, digest];
    const signed = [...known, "POST", `/api/auth${path}`, headers.authorization ?? ""].join("\n");
    const signature = base64url(await subtle.sign("HMAC", await key, bytes(signed)));
    return { "svc-client-address": [...known, signature].join(" ") };
  };
}

/** Some servers add the port, or the interface of a link-local address. */
function bare(text: string): string {
  const [, bracketed, ipv4] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text.trim()) ?? [];
  return (bracketed ?? ipv4 ?? text.trim()).replace(/%.*$/, "");
}

const bytes = (text: string) => new TextEncoder().encode(text);

const base64url = (buffer: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
