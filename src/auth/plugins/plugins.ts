/**
 * Lists the reachable endpoints of better-auth's plugins: those with a path of their own.
 * Next hop: `src/auth/routes/plugins.ts` mounts them.
 */
import type { BetterAuthPlugin } from "better-auth";
import { DefinitionError } from "../../kit/definition-error.ts";
import type { Library } from "../library-types.ts";

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
 * @throws DefinitionError for a plugin that svc replaces, and for a path that is already taken or cannot be mounted
 */
export function pluginEndpoints({ api, context }: Pick<Library, "api" | "context">, taken: readonly string[]) {
  const plugins: BetterAuthPlugin[] = context.options.plugins ?? [];
  for (const { id } of plugins) {
    const why = needless.get(id);
    if (why) throw new DefinitionError(`The better-auth plugin "${id}" ${why}.`, { hint: remedy });
  }

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
      if (path === undefined || options?.metadata?.SERVER_ONLY) return [];
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

const remedy = "What svc does itself needs no plugin. Leave it out of the betterAuth hook in auth.ts.";

/** Plugins that would do nothing here, or harm, by id. */
const needless = new Map([
  // It accepts tokens without a signature: a copy of auth.session would give access.
  ["bearer", "is not needed: session tokens are accepted already"],
  // They act on the library's own endpoints, which are not mounted.
  ["captcha", "protects nothing here: svc's sign-up and sign-in do not ask it, and limit attempts themselves"],
  ["generic-oauth", "adds no sign-in here: svc's sign-in with a provider is its own"],
  ["oauth-proxy", "does nothing here: svc's sign-in with a provider is its own"],
  ["oauth-popup", "does nothing here: svc's sign-in with a provider is its own"],
]);

const unmountable = (id: string, path: string) =>
  new DefinitionError(`The better-auth plugin "${id}" has an endpoint "${path}", which cannot be mounted.`, {
    hint: "A path begins with a slash, and its segments are letters, digits and -._~, or a parameter such as :id.",
  });

const collision = (id: string, path: string, other: string) =>
  new DefinitionError(
    `The better-auth plugin "${id}" has an endpoint /api/auth${path}, but /api/auth${other} exists already.`,
    { hint: remedy },
  );
