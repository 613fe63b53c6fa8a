/**
 * Refuses entries of `plugins` that are no plugins, and plugins that do nothing here or harm, before anything runs.
 * Next hop: `src/auth/library-options.ts`.
 */
import { DefinitionError } from "../../kit/definition-error.ts";

/** @throws DefinitionError */
export function refusePlugins(plugins: readonly unknown[]): void {
  for (const [at, plugin] of plugins.entries()) {
    const { id, options } = Object(plugin) as { id?: unknown; options?: unknown };
    if (typeof id !== "string" || typeof plugin !== "object") throw noPlugin(at, plugin);
    const why = needless.get(id);
    if (why) throw new DefinitionError(`The better-auth plugin "${id}" ${why}.`, { hint: remedy });
    const { disableJwtPlugin, schema, trustEmailVerified } = Object(options) as Record<string, unknown>;
    if (id === "oauth-provider" && disableJwtPlugin !== true) throw withoutJwt();
    if (Object.hasOwn(readBySql, id) && schema) throw renamedColumns(id);
    if (id === "sso" && trustEmailVerified) throw believingAll();
  }
}

export const remedy = "What svc does itself needs no plugin. Leave it out of the betterAuth hook in auth.ts.";

/** Plugins that would do nothing here, or harm, by id. */
const needless = new Map([
  // It accepts tokens without a signature: a copy of auth.session would give access.
  ["bearer", "is not needed: session tokens are accepted already"],
  ["jwt", "is not needed: svc signs JWTs itself, and publishes the keys at /api/auth/jwks"],
  // They act on the library's own endpoints, which are not mounted.
  ["captcha", "protects nothing here: svc's sign-up and sign-in do not ask it, and limit attempts themselves"],
  ["generic-oauth", "adds no sign-in here: svc's sign-in with a provider is its own"],
  ["oauth-proxy", "does nothing here: svc's sign-in with a provider is its own"],
  ["oauth-popup", "does nothing here: svc's sign-in with a provider is its own"],
]);

const noPlugin = (at: number, entry: unknown) =>
  new DefinitionError(`defineAuth: plugins[${at}] of the betterAuth hook is not a plugin but ${nameOf(entry)}.`, {
    hint:
      typeof entry === "function"
        ? "Call it: magicLink({ … }), not magicLink."
        : "Add a plugin under a condition like this: ...(isProduction ? [twoFactor()] : [])",
  });

const nameOf = (entry: unknown) =>
  typeof entry === "function" ? "a function" : (JSON.stringify(entry) ?? "undefined");

const withoutJwt = () =>
  new DefinitionError('The better-auth plugin "oauth-provider" would need jwt(), which svc does not load.', {
    hint: "Set disableJwtPlugin: true. ID tokens are then signed with the secret of the client (HS256).",
  });

/** What SQL reads from columns of these plugins by name: it would not be seen. */
const readBySql: Record<string, string> = {
  admin: "bans and visits from columns with the plugin's own names, such as impersonated_by",
  "device-authorization": "whose devices are approved from device_code.user_id, to end them with the user's sessions",
};

const renamedColumns = (id: string) =>
  new DefinitionError(`The better-auth plugin "${id}" has the option schema, which svc refuses.`, {
    hint: `svc reads ${readBySql[id]}. Leave it out.`,
  });

const believingAll = () =>
  new DefinitionError('The better-auth plugin "sso" has trustEmailVerified: true, which svc refuses.', {
    hint:
      "Each provider would sign in as any user whose address it names. Leave it out. domainVerification links users of the " +
      "provider's own domain.",
  });
