/**
 * `defineAuth({ passkeys })`: the plugin `@better-auth/passkey` with the host and the pages of the configuration, and its use
 * without cookies. The package is loaded here, only if the option is set.
 * Next hop: `../library-options.ts` adds it to the plugins; `plugin-second-factor.ts` says when a passkey is two factors.
 */

import { createRequire } from "node:module";
import type { BetterAuthOptions, BetterAuthPlugin } from "better-auth";
import type { AuthDefinition } from "../../contract/auth.ts";
import { DefinitionError } from "../../kit/definition-error.ts";
import { jsonIn } from "../../kit/json-in.ts";
import { requirePackages } from "../../kit/optional-packages.ts";
import type { Library } from "../library-types.ts";
import { blamingRightly, checkNewPasskey, noteVerified } from "./passkey-rules.ts";
import type { Credential } from "./plugin-request.ts";

type Passkeys = NonNullable<AuthDefinition["passkeys"]>;

const id = "passkey";

const isOfPackage = ({ endpoints = {} }: BetterAuthPlugin) =>
  Object.values(endpoints).some(({ path }) => path === "/passkey/generate-register-options");

/**
 * @param plugins of the hook
 * @throws DefinitionError without the package, if the hook has the plugin, and if pages could not use the passkeys
 */
export function withPasskeys(
  plugins: readonly BetterAuthPlugin[],
  wanted: Passkeys | undefined,
  { baseURL, trustedOrigins }: Pick<BetterAuthOptions, "baseURL" | "trustedOrigins">,
): BetterAuthPlugin[] {
  const given = plugins.find((plugin) => plugin.id === id && (wanted || isOfPackage(plugin)));
  if (given) throw withoutRules(given);
  if (!wanted) return [...plugins];
  requirePackages("passkeys");
  // Not imported: the options are built at once, also for commands.
  const { passkey } = createRequire(import.meta.url)("@better-auth/passkey") as typeof import("@better-auth/passkey");
  const { name, ...options } = wanted === true ? {} : wanted;
  const origins = Array.isArray(trustedOrigins) ? trustedOrigins : [];
  const { rpID, origin } = placeOf(options.rpID, String(baseURL), origins);
  const registration = { afterVerification: checkNewPasskey };
  const authentication = { afterVerification: noteVerified };
  const plugin = passkey({ rpID, rpName: name ?? rpID, origin, registration, authentication }) as BetterAuthPlugin;
  return [...plugins, blamingRightly(plugin)];
}

/**
 * The host that passkeys belong to, and the pages that may use them. A passkey works for its host and those below it, so
 * another host would end all of them: it never follows from a list of pages.
 *
 * @throws DefinitionError
 */
function placeOf(chosen: string | undefined, own: string, trusted: readonly string[]) {
  const host = new URL(own).hostname;
  // While developing: a browser takes no other host there.
  const rpID = host === "localhost" ? host : (chosen ?? host);
  const all = [own, ...trusted.filter((origin) => origin !== own)];
  const origin = all.filter((one) => isWithin(new URL(one).hostname, rpID));
  if (origin.length === 0) {
    throw new DefinitionError(`passkeys.rpID of defineAuth is "${rpID}", and no page is on that host or below it.`, {
      hint: `Name a host of AUTHLIB_URL or frontendOrigins, or the domain above it. The pages are: ${all.join(", ")}.`,
    });
  }
  const other =
    chosen === undefined && host !== "localhost" && all.find((one) => isSibling(new URL(one).hostname, host));
  if (!other) return { rpID, origin };
  throw new DefinitionError(`Pages of ${other} could not use the passkeys of ${host}.`, {
    hint:
      `Say which host passkeys belong to, for good: passkeys: { rpID: "${above(new URL(other).hostname, host)}" } for all of these ` +
      `pages. Passkeys that exist belong to ${host}: { rpID: "${host}" } keeps them.`,
  });
}

function withoutRules({ options }: BetterAuthPlugin): DefinitionError {
  const { rpID } = Object(options) as { rpID?: unknown };
  const option = typeof rpID === "string" ? `passkeys: { rpID: ${JSON.stringify(rpID)} }` : "passkeys: true";
  return new DefinitionError(
    "defineAuth: the betterAuth hook has passkey(), which limits no passkeys and checks no answers.",
    {
      hint: `Leave the plugin out of the hook, and write ${option} in defineAuth. The table and its passkeys stay.`,
    },
  );
}

const isWithin = (host: string, domain: string) => host === domain || host.endsWith(`.${domain}`);

/** Whether pages of a host seem to be of the same site, and are not below it. Others hold no cookie of ours. */
const isSibling = (host: string, own: string) => !isWithin(host, own) && above(host, own).includes(".");

/** The domain above both. */
function above(host: string, other: string): string {
  const [labels, others] = [host.split(".").reverse(), other.split(".").reverse()];
  const until = labels.findIndex((label, at) => label !== others[at]);
  return labels
    .slice(0, until < 0 ? labels.length : until)
    .reverse()
    .join(".");
}

/**
 * The plugin keeps the challenge of a ceremony in a cookie. A client of token style has none: it gets the cookie's value with
 * the options, and sends it back beside the response. The value is signed, and works once.
 */
const member = "svcChallenge";

const isWithoutCookies = (plugin: string, credential: Credential | null) =>
  plugin === id && credential?.style === "token";

const nameOf = ({ context }: Pick<Library, "context">) => context.createAuthCookie("better-auth-passkey").name;

/** The cookie that a body of token style stands for, or "". */
export function challengeCookie(library: Library, plugin: string, credential: Credential | null, body: Buffer): string {
  if (!isWithoutCookies(plugin, credential) || body.length === 0) return "";
  const { [member]: given } = Object(jsonIn(body.toString())) as Record<string, unknown>;
  // Cookies of the library are spelled as encodeURIComponent spells them: nothing here ends a value.
  return typeof given === "string" && /^[\w.%~-]{1,500}$/.test(given) ? `${nameOf(library)}=${given}` : "";
}

/** What an answer of token style adds to its body, if anything. @param cookies of the answer, as `Set-Cookie` has them */
export function challengeMember(
  library: Library,
  plugin: string,
  credential: Credential | null,
  cookies: readonly string[],
): Record<string, string> | undefined {
  if (!isWithoutCookies(plugin, credential)) return undefined;
  const prefix = `${nameOf(library)}=`;
  const line = cookies.find((one) => one.startsWith(prefix));
  return line ? { [member]: line.slice(prefix.length).split(";", 1)[0] as string } : undefined;
}
