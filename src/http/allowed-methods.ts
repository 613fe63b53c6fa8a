/**
 * The methods that a path supports: sent in `Allow`, with 405 for other methods and with 204 for OPTIONS. Source: RFC
 * 9110, sections 9.3.7 and 15.5.6.
 * Next hop: `src/server/app.ts` knows the paths that Express does not route.
 */
import type { ServerResponse } from "node:http";
import type { Router } from "express";
import { SvcError } from "../kit/svc-error.ts";
import { exchangeOf } from "./exchange.ts";

/** For `OPTIONS *`, which asks about the whole service. */
export const everyMethod = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** The methods of all routes that match a path, including nested routers. */
export function routedMethods({ stack }: Pick<Router, "stack">, path: string): Set<string> {
  const methods = new Set<string>();
  for (const layer of stack as unknown as Layer[]) {
    const match = matched(layer, path);
    if (!match) continue;
    for (const method of Object.keys(layer.route?.methods ?? {})) methods.add(method.toUpperCase());
    const { handle } = layer;
    if (!layer.route && handle.stack) {
      const rest = path.slice(match.path.length);
      for (const method of routedMethods(handle as Router, rest.startsWith("/") ? rest : `/${rest}`))
        methods.add(method);
    }
  }
  if (methods.has("GET")) methods.add("HEAD");
  return methods;
}

/** Express's internal entry of a route or a mounted router. */
interface Layer {
  /** `path` is the matched part; for a router, its mount path. */
  match(path: string): { path: string } | false;
  route?: { methods: Record<string, boolean> };
  handle: { stack?: unknown[] };
}

function matched(layer: Layer, path: string): { path: string } | false {
  try {
    return layer.match(path);
  } catch {
    return false; // a path that cannot be decoded matches nothing
  }
}

/**
 * Answers OPTIONS and refuses every other method.
 *
 * @throws SvcError METHOD_NOT_ALLOWED
 */
export function answerMethods(
  response: ServerResponse,
  method: string | undefined,
  methods: Iterable<string>,
  hint?: string,
): void {
  const exchange = exchangeOf(response);
  const allow = [...new Set([...methods, "OPTIONS"])].join(", ");
  if (method === "OPTIONS") {
    response.writeHead(204, { ...exchange.headers, allow }).end();
    return;
  }
  exchange.headers.allow = allow;
  throw new SvcError("METHOD_NOT_ALLOWED", undefined, { hint: hint ?? `It answers ${allow}.` });
}
