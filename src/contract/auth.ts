/**
 * The sign-in options that an application declares in its `auth.ts`.
 * Next hop: `src/auth/library.ts` converts them to better-auth's options.
 */
import type { BetterAuthOptions } from "better-auth";
import { DefinitionError } from "../kit/definition-error.ts";
import { kindOf } from "../kit/v.ts";

/**
 * An additional column of the user. Sign-up input never sets it: a new user gets the default, and trusted code changes
 * it.
 */
export type AdditionalField =
  | { type: "text"; default?: string }
  | { type: "boolean"; default?: boolean }
  | { type: "integer"; default?: number }
  /** `"now"` is the moment of sign-up. */
  | { type: "timestamp"; default?: Date | "now" };

/** A message that the application's mailer must send. */
export interface AuthMail {
  /** The recipient's address. */
  email: string;
  /** The link that the mail must contain. It grants access like a password: never log it. */
  url: string;
}

type SendMail = (mail: AuthMail) => Promise<void> | void;

/** What `defineAuth` takes. Everything is optional. */
export interface AuthDefinition {
  user?: {
    /** By camelCase name; the column is its snake_case form. They travel in JWTs: keep them short, and not secret. */
    additionalFields?: Record<string, AdditionalField>;
  };
  emailAndPassword?: {
    /** Whether users may sign up and sign in with a password. (Default: true) */
    enabled?: boolean;
    /**
     * Sends the link to the page where the user sets a new password. Called after the answer, and only for addresses
     * that have an account. svc waits at most 10 seconds for it. (Default: none; outside production the mail is logged)
     */
    sendResetPassword?: SendMail;
  };
  emailVerification?: {
    /**
     * Sends the link that verifies an address, at sign-up and on request. Called after the answer. svc waits at most 10
     * seconds for it. (Default: none; outside production the mail is logged)
     */
    sendVerificationEmail?: SendMail;
    /**
     * Whether signing in with a password requires a verified address. A sign-up then creates the user but no session.
     * In production this needs `sendVerificationEmail`. (Default: false)
     */
    required?: boolean;
  };
  oauth?: {
    /** The return modes of a social sign-in. Clients that do not name a mode get the first. (Default: ["token"]) */
    allowedReturnModes?: readonly ("token" | "cookie")[];
  };
  /**
   * Extends better-auth's options: return the defaults with your changes. `svc codegen` and `svc migrate generate` also
   * call it, without a database; `svc migrate generate` writes the tables and columns that plugins need. Returned
   * values for database, secrets, origins, cookies and column names are ignored.
   */
  betterAuth?: (defaults: BetterAuthOptions) => BetterAuthOptions;
}

const knownKeys = {
  "": ["user", "emailAndPassword", "emailVerification", "oauth", "betterAuth"],
  user: ["additionalFields"],
  emailAndPassword: ["enabled", "sendResetPassword"],
  emailVerification: ["sendVerificationEmail", "required"],
  oauth: ["allowedReturnModes"],
} as const;

/** Names that the library or a JWT already uses. */
const reservedFields = new Set(["id", "email", "name", "emailVerified", "image", "createdAt", "updatedAt"]);

const defaultIsRight: Record<AdditionalField["type"], (value: unknown) => boolean> = {
  text: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  integer: (value) => Number.isInteger(value) && Math.abs(Number(value)) <= 2 ** 31 - 1,
  timestamp: (value) => value === "now" || (value instanceof Date && !Number.isNaN(value.getTime())),
};

/**
 * Declares authentication; the default export of `auth.ts`.
 *
 * @throws DefinitionError for unknown keys, for additional fields with an invalid name, type or default, and for an
 *   empty list of return modes
 * @example
 * export default defineAuth({ user: { additionalFields: { role: { type: "text", default: "member" } } } });
 */
export function defineAuth<const Definition extends AuthDefinition>(definition: Definition): Definition {
  for (const [section, known] of Object.entries(knownKeys)) {
    const part: unknown = section ? definition[section as keyof AuthDefinition] : definition;
    if (part === undefined) continue;
    if (typeof part !== "object" || part === null)
      throw new DefinitionError(`defineAuth: ${section} must be an object.`);
    for (const [key, value] of Object.entries(part)) {
      const path = section ? `${section}.${key}` : key;
      if (!(known as readonly string[]).includes(key)) {
        throw new DefinitionError(`defineAuth does not know the key "${path}".`, {
          hint: `Known: ${known.join(", ")}.`,
        });
      }
      checkKind(path, value);
    }
  }
  const modes: unknown = definition.oauth?.allowedReturnModes ?? ["token"];
  if (!Array.isArray(modes) || !modes.every((mode) => mode === "token" || mode === "cookie")) {
    throw new DefinitionError('defineAuth: oauth.allowedReturnModes takes "token" and "cookie".');
  }
  if (modes.length === 0) {
    throw new DefinitionError("defineAuth: oauth.allowedReturnModes is empty, so no social sign-in could complete.", {
      hint: "Name a mode, or leave the key out. Without GOOGLE_CLIENT_ID there is no social sign-in anyway.",
    });
  }
  for (const [name, field] of Object.entries(definition.user?.additionalFields ?? {})) checkField(name, field);
  return definition;
}

/** The expected types. A string such as "false" would be truthy and enable the option. */
const kinds: Readonly<Record<string, "boolean" | "function">> = {
  betterAuth: "function",
  "emailAndPassword.enabled": "boolean",
  "emailAndPassword.sendResetPassword": "function",
  "emailVerification.required": "boolean",
  "emailVerification.sendVerificationEmail": "function",
};

function checkKind(path: string, value: unknown): void {
  const kind = Object.hasOwn(kinds, path) ? kinds[path] : undefined;
  if (kind === undefined || value === undefined || typeof value === kind) return;
  throw new DefinitionError(`defineAuth: ${path} takes a ${kind}, and got ${kindOf(value)}.`, {
    hint: kind === "boolean" ? 'For a variable, write process.env.NAME === "true".' : "Pass the function itself.",
  });
}

function checkField(name: string, field: AdditionalField): void {
  const where = `defineAuth: the additional field "${name}"`;
  if (typeof field !== "object" || field === null) throw new DefinitionError(`${where} is ${kindOf(field)}.`);
  const unknown = Object.keys(field).find((key) => key !== "type" && key !== "default");
  if (unknown !== undefined) {
    throw new DefinitionError(`${where} has the key "${unknown}".`, { hint: "Known: type, default." });
  }
  if (reservedFields.has(name)) throw new DefinitionError(`${where} has the name of a built-in user field.`);
  if (!/^[a-z][A-Za-z0-9]{0,40}$/.test(name)) {
    throw new DefinitionError(`${where} must be named in camelCase, with letters and digits, at most 41.`);
  }
  if (!Object.hasOwn(defaultIsRight, field.type)) {
    throw new DefinitionError(`${where} has the type "${field.type}".`, {
      hint: `Allowed: ${Object.keys(defaultIsRight).join(", ")}.`,
    });
  }
  if (field.default !== undefined && !defaultIsRight[field.type](field.default)) {
    throw new DefinitionError(`${where} is a ${field.type}, and its default is not.`);
  }
}
