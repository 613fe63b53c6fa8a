/**
 * One request to a receiver of webhooks. It follows no redirects and does not read the answer's body. Each has a separate
 * connection. Next hop: `src/kit/public-address.ts`.
 */
import { request } from "node:https";
import { isIP } from "node:net";
import { request as insecureRequest } from "../kit/node-http.ts";
import { isPublicAddress, privateAddress, publicLookup } from "../kit/public-address.ts";
import { retryAfter } from "../kit/retry-after.ts";

export interface PostOptions {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** In milliseconds. */
  timeoutMs: number;
  /** Whether http, and private addresses, are allowed. */
  isTrusted: boolean;
}

interface Answered {
  status: number;
  /** How long a receiver that is too busy asks to wait, in milliseconds. null: as long as we like. */
  waitMs: number | null;
}

/** A receiver that asks for more, in milliseconds, asks for nothing that is meant. */
const longestWait = 24 * 60 * 60 * 1000;

/** @throws an error without secrets when there is no answer */
export async function post({ url, headers, body, timeoutMs, isTrusted }: PostOptions): Promise<Answered> {
  if (!URL.canParse(url)) throw new Error("The URL is not valid.");
  const target = new URL(url);
  const { hostname, protocol } = target;
  if (protocol !== "https:" && !(isTrusted && protocol === "http:")) {
    throw new Error(`The URL must begin with https://${isTrusted ? " or http://" : ""}.`);
  }
  const host = hostname.replace(/^\[|\]$/g, "");
  if (!isTrusted && isIP(host) && !isPublicAddress(host)) throw new Error(privateAddress);
  const signal = AbortSignal.timeout(timeoutMs);
  const options = {
    method: "POST",
    agent: false as const,
    signal,
    headers: { ...headers, "content-length": Buffer.byteLength(body) },
    ...(!isTrusted && { lookup: publicLookup() }),
  };
  return new Promise((resolve, reject) => {
    const send = protocol === "http:" ? insecureRequest : request;
    const sent = send(target, options, (answer) => {
      const { statusCode: status = 0, headers } = answer;
      const asked = status === 429 || status === 503 ? retryAfter(headers["retry-after"] ?? null) : null;
      resolve({ status, waitMs: asked === null || asked > longestWait ? null : Math.ceil(asked) });
      answer.destroy(); // it may have any length
    });
    const late = () => new Error(`The receiver did not answer within ${timeoutMs} ms.`);
    sent
      .on("error", (error) => reject(signal.aborted ? late() : error))
      // After an upgrade to another protocol there is neither an answer nor an error.
      .on("close", () => reject(new Error("The receiver ended the connection without an answer.")))
      .end(body);
  });
}
