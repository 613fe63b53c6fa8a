/**
 * Lists the reachable endpoints of better-auth's plugins: those with a path of their own.
 * Next hop: `src/auth/routes/plugins.ts` mounts them.
 */
import type { BetterAuthPlugin } from "better-auth";
import { DefinitionError } from "../../kit/definition-error.ts";
import type { Library } from "../library-types.ts";
import { remedy } from "./refused-plugins.ts";

export interface PluginEndpoint {
  /** Of the plugin. */
  id: string;
  /** Below /api/auth; a segment may be a parameter, such as `:id`. */
  path: string;
  /** Upper case. */
  methods: string[];
  /** The zod schema of the body, where the plugin declares one. */
  body: unknown;
}

/** The known properties of an endpoint; the library types each endpoint separately. */
interface Endpoint {
  path?: string;
  options?: { method?: string | string[]; body?: unknown; metadata?: { SERVER_ONLY?: boolean } };
}

/**
 * @param taken our own paths below /api/auth
 * @throws DefinitionError for a path that is already taken or cannot be mounted
 */
export function pluginEndpoints({ api, context }: Pick<Library, "api" | "context">, taken: readonly string[]) {
  const plugins: BetterAuthPlugin[] = context.options.plugins ?? [];
  const brought = endpointsOf(plugins);
  // A plugin's endpoint replaces the library's endpoint of the same name.
  const replaced = new Set(plugins.flatMap(({ endpoints }) => Object.keys(endpoints ?? {})));
  const core = Object.entries(api as unknown as Record<string, Endpoint>).flatMap(([key, { path }]) =>
    path === undefined || replaced.has(key) ? [] : [path],
  );
  for (const { id, path } of brought) {
    if (!/^(?:\/(?::[A-Za-z_]\w*|[\w.~-]+))+$/.test(path)) throw unmountable(id, path);
    const other = [...taken, ...core].find((known) => overlap(known, path));
    if (other !== undefined) throw collision(id, path, other);
  }
  return brought;
}

/** The endpoints of plugins that can be reached over HTTP. */
export function endpointsOf(plugins: readonly BetterAuthPlugin[]): PluginEndpoint[] {
  return plugins.flatMap(({ id, endpoints }) =>
    Object.values(endpoints ?? {}).flatMap((endpoint): PluginEndpoint[] => {
      const { path, options } = endpoint as Endpoint;
      // A document at a well-known place is for the server only, but its plugin answers requests for it all the same.
      const isHidden = options?.metadata?.SERVER_ONLY && !path?.startsWith("/.well-known/");
      if (path === undefined || isHidden) return [];
      return [{ id, path, methods: [options?.method ?? "GET"].flat(), body: options?.body }];
    }),
  );
}

/** Whether one request can match both patterns. */
function overlap(first: string, second: string): boolean {
  const [a, b] = [first.split("/"), second.split("/")];
  const isAny = (segment = "") => segment.startsWith(":") || segment === "*";
  return a.length === b.length && a.every((segment, at) => segment === b[at] || isAny(segment) || isAny(b[at]));
}

const unmountable = (id: string, path: string) =>
  new DefinitionError(`The better-auth plugin "${id}" has an endpoint "${path}", which cannot be mounted.`, {
    hint: "A path begins with a slash, and its segments are letters, digits and -._~, or a parameter such as :id.",
  });

const collision = (id: string, path: string, other: string) =>
  new DefinitionError(
    `The better-auth plugin "${id}" has an endpoint /api/auth${path}, but /api/auth${other} exists already.`,
    { hint: remedy },
  );
