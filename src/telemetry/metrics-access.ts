/**
 * Access control of `/metrics`: they disclose load and operations, and cost a database query. With METRICS_TOKEN,
 * clients must send it. Without it, anyone may read outside production; in production only this machine, connecting
 * directly under a name of its own: a proxy on this machine adds headers or keeps the public name in `Host`.
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

const passedOn = /^(forwarded|via|x-forwarded-.+|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/;

/** Without `Host`, as HTTP/1.0 allows, only the headers of a proxy count. */
const ownName = /^(localhost|127(\.\d{1,3}){3}|\[::1\])?(:\d+)?$/i;

function isLocal({ socket, headers }: IncomingMessage): boolean {
  const isLoopback = /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? "");
  return isLoopback && ownName.test(headers.host ?? "") && !Object.keys(headers).some((name) => passedOn.test(name));
}
