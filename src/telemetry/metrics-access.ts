/**
 * Access control of `/metrics`: they disclose load and operations, and cost a database query. With METRICS_TOKEN,
 * clients must send it. Without it, anyone may read outside production; in production only this machine, connecting
 * directly: a forwarded request came from elsewhere.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { SvcError } from "../kit/svc-error.ts";

export interface MetricsAccess {
  token: string | null;
  /** Whether anyone may read if there is no token. */
  open: boolean;
}

/** @throws SvcError UNAUTHORIZED */
export function refuseReader({ token, open }: MetricsAccess, request: IncomingMessage): void {
  if (token === null ? open || isLocal(request) : shows(request, token)) return;
  throw new SvcError("UNAUTHORIZED", "Metrics require a bearer token.", {
    hint: "Set METRICS_TOKEN for the service, and send it as a bearer token.",
  });
}

function shows({ headers }: IncomingMessage, token: string): boolean {
  const [, shown = ""] = /^Bearer (.+)$/i.exec(headers.authorization ?? "") ?? [];
  return timingSafeEqual(hash(shown), hash(token));
}

/** Of equal length for any input. */
const hash = (text: string) => createHash("sha256").update(text).digest();

const passedOn = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

function isLocal({ socket, headers }: IncomingMessage): boolean {
  const address = socket.remoteAddress ?? "";
  return /^(::ffff:)?127\.|^::1$/.test(address) && !passedOn.some((name) => name in headers);
}
