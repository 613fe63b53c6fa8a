/**
 * The user's profile at the provider, from the claims of a verified ID token, or of the provider's API.
 * Next hop: `social-accounts.ts` finds or makes the user.
 */
import { z } from "zod";
import { isVisible } from "../passwords/rules.ts";

export interface Profile {
  /** Claim `sub`: stays the same when the address changes. */
  id: string;
  /** In lower case; null when there is none, or it cannot be the address of an account. */
  email: string | null;
  emailVerified: boolean;
  /** 1 to 200 characters. */
  name: string;
  /** An https URL. */
  image: string | null;
  /** What the provider says of the user, unchanged. */
  claims: Readonly<Record<string, unknown>>;
}

const address = z.email().max(254);
const longestName = 200;
const longestImage = 2048;

/** OpenID Connect Core, section 2: at most 255 characters of ASCII. */
const subject = /^[\x20-\x7e]{1,255}$/;

/**
 * @param said what the provider says, if the claims are not its own
 * @returns null when the claims contain no valid `sub`
 */
export function readProfile(claims: Readonly<Record<string, unknown>>, said = claims): Profile | null {
  if (typeof claims.sub !== "string" || !subject.test(claims.sub)) return null;
  const email = address.safeParse(textOf(claims.email).trim().toLowerCase()).data ?? null;
  const name = [...textOf(claims.name).toWellFormed().trim()].slice(0, longestName).join("").trim();
  return {
    id: claims.sub,
    email,
    emailVerified: claims.email_verified === true, // not "true": only the boolean counts as verified
    name: isVisible(name) ? name : (email?.slice(0, email.indexOf("@")) ?? ""),
    image: pictureOf(textOf(claims.picture)),
    claims: said,
  };
}

/** Without NUL, which PostgreSQL cannot store. */
const textOf = (claim: unknown): string => (typeof claim === "string" ? claim.replaceAll("\0", "") : "");

function pictureOf(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, href } = new URL(text);
  return protocol === "https:" && href.length <= longestImage ? href : null;
}
