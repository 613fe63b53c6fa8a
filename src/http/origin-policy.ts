/**
 * The web origins that this service trusts: one policy for CORS (`cors.ts`), for calls by cookie
 * (`src/auth/sessions/authenticate.ts`), for redirect targets, and for the upgrade to a WebSocket
 * (`src/realtime/socket.ts`). An origin must match the list exactly.
 * Next hop: `src/config/origin.ts` defines origins; `src/config/load-config.ts` has checked the configured ones.
 */
import { SvcError } from "../kit/svc-error.ts";

export interface OriginPolicy {
  /** The service's own public origin: it issues the tokens, and links in mails begin with it. */
  readonly own: string;
  /** All trusted origins, the own one first. */
  readonly all: readonly string[];
  /** @param origin the header's value */
  allows(origin: string | undefined): boolean;
  /**
   * Validates a redirect target: an absolute URL on a listed origin, or a path on our own.
   *
   * @param target anything; only strings can be valid
   * @returns the URL of the redirect, or null
   */
  destination(target: unknown): URL | null;
}

export interface OriginSettings {
  /** AUTHLIB_URL, or null: then the listening address is used. */
  configured: string | null;
  /** Where this process listens, for example http://localhost:4000. */
  listening: string;
  /** Origins, each checked by `checkOrigin`. */
  frontendOrigins: readonly string[];
  /** Host names of the service, as checked origins. */
  customDomains: readonly string[];
}

export function createOriginPolicy(settings: OriginSettings): OriginPolicy {
  // Browsers leave the port 80 out.
  const own = settings.configured ?? new URL(settings.listening).origin;
  // Without AUTHLIB_URL this is a development machine, where both names are in use.
  const twin = settings.configured ? [] : [own.replace("//localhost", "//127.0.0.1")];
  const all = new Set([own, ...twin, ...settings.customDomains, ...settings.frontendOrigins]);
  return {
    own,
    all: [...all],
    allows: (origin) => origin !== undefined && all.has(origin),
    destination(target) {
      if (typeof target !== "string" || target.length > maxLength || !unambiguous.test(target)) return null;
      if (!URL.canParse(target, own)) return null;
      const url = new URL(target, own);
      const isPath = /^\/(?!\/)/.test(target);
      // The text itself must begin with the origin: parsers correct too much ("https:/a.test", "HTTPS://a.test").
      const begins = isPath ? url.origin === own : all.has(url.origin) && startsAt(target, url.origin);
      return begins ? url : null;
    },
  };
}

/** In UTF-16 units. Browsers and proxies may truncate longer URLs. */
const maxLength = 2048;

/** Printable ASCII without white space and backslash, which browsers and servers interpret differently. */
const unambiguous = /^[\x21-\x5b\x5d-\x7e]+$/;

/** Whether only the origin comes before the path, the query or the hash. */
function startsAt(target: string, origin: string): boolean {
  return target.startsWith(origin) && /^([/?#]|$)/.test(target.slice(origin.length));
}

/**
 * @param name the parameter that holds the target
 * @throws SvcError BAD_REQUEST for a target that `destination` refuses; the browser is never redirected there
 */
export function requireDestination({ destination }: OriginPolicy, name: string, target: unknown): URL {
  const url = destination(target);
  if (url) return url;
  throw new SvcError("BAD_REQUEST", `${name} leads to an origin that is not listed, or is not a plain URL.`, {
    hint: "Send a path, or an absolute URL on an origin of frontendOrigins in svc.config.ts.",
  });
}

/**
 * The error for an unlisted origin. It does not repeat the origin, which may be any text.
 *
 * @param origin the header's value
 */
export const foreignOrigin = (origin: string | undefined) =>
  origin === undefined
    ? new SvcError("FORBIDDEN", "With a cookie, this needs the header Origin.", {
        hint:
          "Browsers send it by themselves. A program sends the origin of the page that it acts for, " +
          "or signs in at /api/auth/sign-in and sends Authorization: Bearer.",
      })
    : new SvcError("FORBIDDEN", "This origin may not do this.", {
        hint:
          "List it under frontendOrigins in svc.config.ts, spelled as the browser sends it in Origin. " +
          "The service's own origin is AUTHLIB_URL.",
      });
