/**
 * Finds the application's route for a request, before Express sees it. Express's router costs as much as the rest of a small
 * call, and it changes the prototypes of request and response, which V8 then collects later.
 * Next hop: `routes.ts`.
 */
import type { RouteDefinition } from "../contract/http-route.ts";
import { type RouteEndpoint, type RouteTransport, routeEndpoint } from "./routes.ts";

/** A route, and what its path has in the places of its parameters. */
export interface FoundRoute {
  endpoint: RouteEndpoint;
  params: Record<string, string>;
}

interface Entry {
  segments: readonly string[];
  endpoint: RouteEndpoint;
}

/**
 * Fixed segments win over parameters, in whatever order routes are registered: those of one method and number of segments
 * are tried in this order.
 */
export const byShape = (a: { path: string }, b: { path: string }): number =>
  shapeOf(a.path).localeCompare(shapeOf(b.path));

/** A digit for each segment. No two routes of one method have the same segments, so those of one shape do not compete. */
const shapeOf = (path: string): string =>
  path
    .split("/")
    .map((segment) => (isParameter(segment) ? "1" : "0"))
    .join("");

const isParameter = (segment: string) => segment.startsWith(":");

/**
 * Whether no built-in path can be meant: `defineApi` refuses routes that begin like one, such as /healthz or /api/auth. Others are
 * left to Express, which has them all in order.
 */
const isApart = (path: string): boolean => {
  const [, first = "", second = ""] = path.split("/");
  return !isParameter(first) && (first.toLowerCase() !== "api" || !isParameter(second));
};

/** @returns finds a route; undefined for Express: another method such as HEAD, no route, or a parameter that is not encoded well */
export function routeTable(routes: readonly RouteDefinition[], transport: RouteTransport) {
  const table = new Map<string, Entry[]>();
  for (const route of routes.filter(({ path }) => isApart(path)).toSorted(byShape)) {
    const segments = route.path.split("/");
    const key = `${route.verb.toUpperCase()} ${segments.length}`;
    const entries = table.get(key) ?? [];
    table.set(key, entries);
    entries.push({ segments, endpoint: routeEndpoint(route, transport) });
  }

  return (method: string | undefined, path: string): FoundRoute | undefined => {
    const segments = path.split("/");
    for (const entry of table.get(`${method} ${segments.length}`) ?? []) {
      const params = match(entry.segments, segments);
      if (params) return params === "malformed" ? undefined : { endpoint: entry.endpoint, params };
    }
    return undefined;
  };
}

function match(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | "malformed" | undefined {
  const isMatch = pattern.every((part, at) => (isParameter(part) ? segments[at] !== "" : part === segments[at]));
  if (!isMatch) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    if (!isParameter(part)) continue;
    try {
      params[part.slice(1)] = decodeURIComponent(segments[at] ?? "");
    } catch {
      return "malformed";
    }
  }
  return params;
}
