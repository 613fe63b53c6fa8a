/**
 * The accounts that a request to a plugin's endpoint may concern. We do not know which of them the plugin compares a
 * secret with, so attempts are counted for all: the session's user, the user whose second factor is pending, and every
 * user named in the request.
 * Next hop: `plugin-passwords.ts` counts by them.
 */
import { getAuthTables } from "better-auth/db";
import { isStorableText } from "../../kit/storable-text.ts";
import { SvcError } from "../../kit/svc-error.ts";
import type { Library } from "../library-types.ts";
import type { AuthParts } from "../routes/endpoint.ts";
import { cookieValue } from "../sessions/session-cookie.ts";
import type { Credential } from "./plugin-request.ts";

/** A value in the body, the query or the path, at any depth. */
export interface Given {
  key: string;
  value: unknown;
}

export interface Accounts {
  /** Subjects of the counters: the address of an existing user, else the given name. */
  names: string[];
  /** Stored hashes of their passwords. */
  hashes: Set<string>;
  /** Telephone numbers that their users have not verified. */
  unverified: string[];
}

/** More names than any endpoint takes. Each costs a statement. */
const maxNames = 8;

/** @throws SvcError BAD_REQUEST for too many names */
export async function accountsOf(
  { library }: Pick<AuthParts, "library">,
  inner: Request,
  given: readonly Given[],
  credential: Credential | null,
): Promise<Accounts> {
  const named = new Map<string, Name>();
  const add = (name: Name) => named.set(`${name.field} ${name.value}`, name);
  if (credential?.live) add({ field: "id", value: credential.live.session.user.id });
  const challenged = await challengedUser(library, inner);
  if (challenged !== null) add({ field: "id", value: challenged });
  const fields = naming(library);
  for (const { key, value } of given) {
    const field = fields.get(key);
    if (field && (typeof value === "string" || typeof value === "number")) add(field(String(value)));
  }
  requireFewNames(named.size);

  const accounts: Accounts = { names: [], hashes: new Set(), unverified: [] };
  for (const name of named.values()) {
    const user = await findUser(library, name);
    accounts.names.push(user?.email ?? unknownName(name));
    if (user && name.field === "phoneNumber" && !user.phoneNumberVerified) accounts.unverified.push(name.value);
    for (const { password } of user?.account ?? []) if (password) accounts.hashes.add(password);
  }
  return accounts;
}

/** @throws SvcError BAD_REQUEST: one request would count against many */
export function requireFewNames(count: number): void {
  if (count > maxNames) throw new SvcError("BAD_REQUEST", `The request names more than ${maxNames} accounts.`);
}

interface Name {
  /** Of the user's row. */
  field: string;
  value: string;
}

/** An unknown name is counted like a known one. An address is counted as in our own sign-in. */
const unknownName = ({ field, value }: Name): string => {
  const name = value.trim().toLowerCase();
  return field === "email" ? name : `${field} ${name}`;
};

/** The keys that name a user, and how their values are stored: only fields with unique values. */
function naming({ context }: Pick<Library, "context">): Map<string, (value: string) => Name> {
  const names = new Map<string, (value: string) => Name>();
  for (const [field, { unique, transform }] of Object.entries(getAuthTables(context.options).user?.fields ?? {})) {
    if (!unique) continue;
    names.set(field, (value) => {
      const kept: unknown = transform?.input ? transform.input(value) : value;
      return { field, value: typeof kept === "string" ? kept : value };
    });
  }
  names.set("email", (value) => ({ field: "email", value: value.trim().toLowerCase() }));
  names.set("userId", (value) => ({ field: "id", value }));
  return names;
}

interface User {
  email: string;
  account?: { password?: string | null }[];
  phoneNumberVerified?: boolean | null;
}

/** One statement, whether or not the user exists. */
async function findUser({ context }: Pick<Library, "context">, { field, value }: Name): Promise<User | null> {
  // PostgreSQL cannot store such text, so no user has it.
  if (!isStorableText(value)) return null;
  return context.adapter.findOne<User>({ model: "user", where: [{ field, value }], join: { account: true } });
}

/** The user whose first factor was right, from the cookie of the second factor. The plugin verifies its signature. */
async function challengedUser({ context }: Pick<Library, "context">, { headers }: Request): Promise<string | null> {
  if (!context.hasPlugin("two-factor")) return null;
  const value = cookieValue(headers.get("cookie") ?? undefined, context.createAuthCookie("two_factor").name) ?? "";
  const identifier = value.slice(0, Math.max(0, value.lastIndexOf(".")));
  if (identifier === "" || !isStorableText(identifier)) return null;
  return (await context.internalAdapter.findVerificationValue(identifier))?.value ?? null;
}
