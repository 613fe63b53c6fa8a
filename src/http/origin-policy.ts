/**
 * Which web origins this service deals with: one policy for CORS, for state changes by cookie, for where a browser may be
 * sent back to, and for the WebSocket upgrade. Whatever is not on the list, letter by letter, is foreign.
 * Next hop: `src/config/origin.ts` says what an origin is; `src/config/load-config.ts` has checked the configured ones.
 */
import { SvcError } from "../kit/svc-error.ts";

export interface OriginPolicy {
  /** The service's own public origin: it issues the tokens, and links in mails begin with it. */
  readonly own: string;
  /** Every origin that is let in, the own one first. */
  readonly all: readonly string[];
  /** @param origin the header as it came */
  allows(origin: string | undefined): boolean;
  /**
   * Where a browser may be sent: an absolute URL on a listed origin, or a path on our own.
   *
   * @param target anything; only strings can pass
   * @returns the URL to send it to, or null
   */
  destination(target: unknown): URL | null;
}

export interface OriginSettings {
  /** AUTHLIB_URL, or null: then the address that was bound. */
  configured: string | null;
  /** Where this process listens, for example http://localhost:4000. */
  listening: string;
  /** Origins, each checked by `checkOrigin`. */
  frontendOrigins: readonly string[];
  /** Likewise. */
  customDomains: readonly string[];
}

export function createOriginPolicy(settings: OriginSettings): OriginPolicy {
  const own = settings.configured ?? settings.listening;
  // Without AUTHLIB_URL this is somebody's own machine, where people type either name.
  const twin = settings.configured ? [] : [own.replace("//localhost:", "//127.0.0.1:")];
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
      // The text itself has to begin with the origin: parsers repair too much ("https:/a.test", "HTTPS://a.test").
      const begins = isPath ? url.origin === own : all.has(url.origin) && startsAt(target, url.origin);
      return begins ? url : null;
    },
  };
}

/** In UTF-16 units. Longer ones do not fit where browsers and proxies keep URLs. */
const maxLength = 2048;

/** Printable ASCII without white space and backslash, which browsers and servers read in different ways. */
const unambiguous = /^[\x21-\x5b\x5d-\x7e]+$/;

/** Whether the origin is all that stands before the path, the query or the hash. */
function startsAt(target: string, origin: string): boolean {
  return target.startsWith(origin) && /^([/?#]|$)/.test(target.slice(origin.length));
}

/**
 * The answer to an origin that is not on the list. The origin itself is not repeated: it may be anything.
 *
 * @param origin the header as it came
 */
export const foreignOrigin = (origin: string | undefined) => (origin === undefined ? noOrigin() : unlistedOrigin());

const noOrigin = () =>
  new SvcError("FORBIDDEN", "With a cookie, this needs the header Origin.", {
    hint:
      "Browsers send it by themselves. A program sends the origin of the page that it acts for, " +
      "or signs in at /api/auth/sign-in and sends Authorization: Bearer.",
  });

const unlistedOrigin = () =>
  new SvcError("FORBIDDEN", "This origin may not do this.", {
    hint:
      "List it under frontendOrigins in svc.config.ts, spelled as the browser sends it in Origin. " +
      "The service's own origin is AUTHLIB_URL.",
  });
