/**
 * The sign-in options that an application declares in its `auth.ts`.
 * Next hop: `src/auth/library.ts` converts them to better-auth's options.
 */
import type { BetterAuthOptions } from "better-auth";
import { z } from "zod";
import { isIssuer } from "../kit/issuer.ts";
import { boolean, callable, checkOptions, integer, must, oneOf } from "../kit/options.ts";

/** A message that the application's mailer must send. */
export interface AuthMail {
  /** The recipient's address. */
  email: string;
  /** The link that the mail must contain. It grants access like a password: never log it. */
  url: string;
}

type SendMail = (mail: AuthMail) => Promise<void> | void;

/** An invitation to an organization, for the application's mailer. */
export interface InvitationMail extends AuthMail {
  /** The name of the organization, on one line. Members chose it: escape it in HTML. */
  organization: string;
  role: string;
  /** The name of the member who invites, likewise. */
  inviter: string;
}

/** The roles where `organizations` names none. */
export const defaultRoles = ["owner", "admin", "member"] as const;

const organizationOptions = z.strictObject({
  /**
   * The roles of members. The database gives rights to `owner` and `admin`; what others may do is said by the policies of the
   * application, such as `orgRls`. (Default: ["owner", "admin", "member"])
   */
  roles: z
    .array(
      z.string().regex(/^[a-z][a-z0-9_-]{0,30}$/, must("a name in lower case, with letters, digits, _ and -")),
      must("a list of roles"),
    )
    .refine((roles) => roles.includes("owner"), 'needs "owner": each organization has one')
    .refine((roles) => new Set(roles).size === roles.length, "names a role twice")
    .readonly()
    .optional(),
  /**
   * Sends an invitation. Called by a worker after the commit, and again if it fails. (Default: none; outside production the
   * mail is logged)
   */
  sendInvitation: callable<(mail: InvitationMail) => Promise<void> | void>().optional(),
  /** The page that takes `?invitation=<id>`: a path of the service, or an absolute URL. (Default: "/") */
  page: z
    .string()
    .refine((page) => page.startsWith("/") || /^https?:\/\//.test(page), must("a path such as /invitations, or a URL"))
    .optional(),
});

const additionalField = z.discriminatedUnion(
  "type",
  [
    z.strictObject({ type: z.literal("text"), default: z.string(must("a text")).optional() }),
    z.strictObject({ type: z.literal("boolean"), default: boolean().optional() }),
    z.strictObject({ type: z.literal("integer"), default: integer(-(2 ** 31) + 1, 2 ** 31 - 1).optional() }),
    z.strictObject({
      type: z.literal("timestamp"),
      /** `"now"` is the moment of sign-up. */
      default: z.union([z.literal("now"), z.date()], must('a Date or "now"')).optional(),
    }),
  ],
  must('{ type: "text" | "boolean" | "integer" | "timestamp", default? }'),
);

/** Names that the library or a JWT already uses. */
const reservedFields = new Set(["id", "email", "name", "emailVerified", "image", "createdAt", "updatedAt"]);

const fieldName = z
  .string()
  .refine((name) => !reservedFields.has(name), "has the name of a built-in user field")
  .regex(/^[a-z][A-Za-z0-9]{0,40}$/, must("named in camelCase, with letters and digits, at most 41"));

/** A text such as "false" would be truthy. */
const choice = () => z.boolean(must('true or false (for a variable: process.env.NAME === "true")')).optional();

/** The ids of the providers that svc knows by name. An id is also stored with each account. */
export const knownProviders = ["google", "github", "microsoft", "apple"] as const;

/** better-auth stores `credential` with passwords. */
const takenProviders = new Set<string>([...knownProviders, "credential"]);

const providerName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,30}$/, must("a name in lower case, with letters, digits and dashes, at most 31 characters"))
  .refine((name) => !takenProviders.has(name), "is the name of another provider");

const issuerRule = must("an issuer such as https://login.example.com, with http only on localhost or 127.0.0.1");
const appleId = (of: string) => z.string().regex(/^[A-Z0-9]{10}$/, must(`the ${of}, 10 letters and digits`));

/** Whether addresses count as verified that the provider does not call verified. */
const trustEmail = () => z.boolean(must("true or false")).optional();

const scopeName = z
  .string()
  .regex(
    /^(\*|[a-z][a-z0-9_-]*(:[a-z0-9_-]+)*)$/,
    must('a scope such as "tickets:read", in lower case, or "*" for keys that may do everything'),
  )
  .max(50, must("a scope of at most 50 characters"));

const definitionSchema = z.strictObject({
  user: z
    .strictObject({
      /** By camelCase name; the column is its snake_case form. They travel in JWTs: keep them short, and not secret. */
      additionalFields: z.record(fieldName, additionalField).optional(),
    })
    .optional(),
  emailAndPassword: z
    .strictObject({
      /** Whether users may sign up and sign in with a password. (Default: true) */
      enabled: choice(),
      /**
       * Sends the link to the page where the user sets a new password. Called after the answer, and only for addresses that have
       * an account. svc waits at most 10 seconds for it. (Default: none; outside production the mail is logged)
       */
      sendResetPassword: callable<SendMail>().optional(),
    })
    .optional(),
  emailVerification: z
    .strictObject({
      /**
       * Sends the link that verifies an address, at sign-up and on request. Called after the answer. svc waits at most
       * 10 seconds for it. (Default: none; outside production the mail is logged)
       */
      sendVerificationEmail: callable<SendMail>().optional(),
      /**
       * Whether signing in with a password requires a verified address. A sign-up then creates the user but no session.
       * In production this needs `sendVerificationEmail`. (Default: false)
       */
      required: choice(),
    })
    .optional(),
  oauth: z
    .strictObject({
      /** The return modes of a social sign-in. Clients that do not name a mode get the first. (Default: ["token"]) */
      allowedReturnModes: z
        .array(oneOf(["token", "cookie"]), must('a list of "token" and "cookie"'))
        .min(1, "is empty, so no social sign-in could complete: name a mode, or leave the key out")
        .readonly()
        .optional(),
    })
    .optional(),
  /**
   * Providers of social sign-in, besides Google, which needs only its variables. Each has its client in
   * `<NAME>_CLIENT_ID` and `<NAME>_CLIENT_SECRET`. (Default: none)
   */
  social: z
    .strictObject({
      github: z
        .strictObject({
          /** Of a GitHub Enterprise Server. (Default: https://github.com) */
          url: z.string().refine(isIssuer, must("a URL such as https://github.example.com")).optional(),
        })
        .optional(),
      /** One tenant of Microsoft Entra ID: a company. */
      microsoft: z
        .strictObject({
          tenant: z.uuid(must("the directory (tenant) id, a UUID: with another tenant, its owner decides who is who")),
          /** Entra ID calls no address verified. Only if your administrators alone set them. (Default: false) */
          trustEmail: trustEmail(),
        })
        .optional(),
      /** `APPLE_CLIENT_SECRET` is the text of the key file (.p8). */
      apple: z.strictObject({ teamId: appleId("team's id"), keyId: appleId("key's id") }).optional(),
      /** Providers of OpenID Connect, by name. */
      oidc: z
        .record(
          providerName,
          z.strictObject({
            /** Its endpoints are discovered. */
            issuer: z.string().refine(isIssuer, issuerRule),
            /** Only if its users cannot set an address of somebody else. (Default: false) */
            trustEmail: trustEmail(),
          }),
        )
        .optional(),
    })
    .optional(),
  /** Keys by which users let their own programs call. (Default: there are none) */
  apiKeys: z
    .strictObject({
      /** Each key begins with it and `_`. Another prefix ends all keys. */
      prefix: z.string().regex(/^[a-z][a-z0-9]{1,15}$/, must('2 to 16 lower-case letters and digits, such as "acme"')),
      /**
       * What keys may be allowed to do. Policies ask by `scoped()`, procedures and routes by `.scope()`. `"*"` lets users make
       * keys that may do everything.
       */
      scopes: z
        .array(scopeName, must("a list of scopes"))
        .min(1, "is empty, so a key could do nothing: name a scope, or leave apiKeys out")
        .max(100, "has more than 100 scopes")
        .readonly(),
      /** (Default: 20) */
      maxPerUser: integer(1, 1_000).optional(),
    })
    .optional(),
  /**
   * Organizations with members, roles and invitations: `true`, or options. `createOrganizations(auth)` makes their procedures.
   * (Default: none)
   */
  organizations: z
    .union([z.literal(true), organizationOptions], must("true or { roles?, sendInvitation?, page? }"))
    .optional(),
  /**
   * Sign-in with passkeys, by `@better-auth/passkey`: `true`, or options. The SDK has `addPasskey` and `signInWithPasskey`.
   * (Default: none)
   */
  passkeys: z
    .union(
      [
        z.literal(true),
        z.strictObject({
          /**
           * The host that passkeys belong to: that of `AUTHLIB_URL`, or a domain above it. On localhost it is localhost.
           * Another one ends all passkeys. (Default: the host of `AUTHLIB_URL`)
           */
          rpID: z
            .string()
            .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, must('a host in lower case, such as "example.com"'))
            .optional(),
          /** Shown to the user. (Default: the host) */
          name: z.string().min(1, must("a text")).max(64, must("a text of at most 64 characters")).optional(),
        }),
      ],
      must("true or { rpID?, name? }"),
    )
    .optional(),
  /**
   * The schemes of `Authorization` that carry a credential of svc, in any case. Others are ignored, for middleware of
   * the application. (Default: ["Bearer"])
   */
  schemes: z
    .array(
      z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}$/, must('the name of a scheme, such as "Token"')),
      must("a list of schemes"),
    )
    .min(1, "is empty: name a scheme, or leave the key out")
    .readonly()
    .optional(),
  /**
   * Extends better-auth's options: return the defaults with your changes. `svc codegen` and `svc migrate generate` also
   * call it, without a database; `svc migrate generate` writes the tables and columns that plugins need. Returned
   * values for database, secrets, origins, cookies and column names are ignored.
   */
  betterAuth: callable<(defaults: BetterAuthOptions) => BetterAuthOptions>().optional(),
});

/** An additional column of the user. Sign-up input never sets it: a new user gets the default, and trusted code changes it. */
export type AdditionalField = z.input<typeof additionalField>;

/** What `defineAuth` takes. Everything is optional. */
export type AuthDefinition = z.input<typeof definitionSchema>;

/** What `defineAuth` takes as `apiKeys`. */
export type ApiKeyOptions = NonNullable<AuthDefinition["apiKeys"]>;

/**
 * Declares authentication; the default export of `auth.ts`.
 *
 * @throws DefinitionError for unknown keys, for additional fields with an invalid name, type or default, and for an
 *   empty list of return modes
 * @example
 * export default defineAuth({ user: { additionalFields: { role: { type: "text", default: "member" } } } });
 */
export function defineAuth<const Definition extends AuthDefinition>(definition: Definition): Definition {
  checkOptions("defineAuth", definitionSchema, definition);
  return definition;
}
