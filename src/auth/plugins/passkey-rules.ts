/**
 * What `@better-auth/passkey` does not ask before it stores a passkey: whether it is known, how many there are, and whether the
 * answer of the authenticator has its form. Called by `passkeys.ts`, and by `../library-options.ts` after the rules of visits.
 */
import type { PasskeyOptions } from "@better-auth/passkey";
import type { BetterAuthPlugin } from "better-auth";
import { APIError, createAuthMiddleware, isAPIError } from "better-auth/api";
import { z } from "zod";
import { invalid } from "./input-rules.ts";

type Check = NonNullable<NonNullable<PasskeyOptions["registration"]>["afterVerification"]>;
type Adapter = Parameters<Check>[0]["ctx"]["context"]["adapter"];

/** The id of a credential has at most 1023 bytes (WebAuthn Level 3, section 7.1), as base64url. An index takes no long ones. */
const most = { perUser: 20, id: 1364 } as const;

const counting = (adapter: Adapter) => (field: string, value: string) =>
  adapter.count({ model: "passkey", where: [{ field, value }] });

/** Requests whose passkey the plugin has verified. */
const verified = new WeakSet<object>();

/** Runs after the plugin has verified the passkey of a sign-in. */
export const noteVerified = ({ ctx }: Pick<Parameters<Check>[0], "ctx">): void => {
  if (ctx.request) verified.add(ctx.request);
};

/** Runs after the plugin has verified a new passkey, and before it stores it. @throws APIError */
export const checkNewPasskey: Check = async ({ ctx, verification, user }) => {
  noteVerified({ ctx });
  const count = counting(ctx.context.adapter);
  const id = verification.registrationInfo?.credential.id ?? "";
  if (id.length > most.id) throw refusal("BAD_REQUEST", "The id of this passkey is too long.");
  // Of two rows with one id a sign-in finds either, and may refuse the owner.
  if ((await count("credentialID", id)) > 0) throw known();
  if ((await count("userId", user.id)) >= most.perUser) throw many();
};

const base64url = z.string("must be a base64url text").regex(/^[\w-]+={0,2}$/, "must be a base64url text");
const answerOf = (members: z.ZodRawShape) =>
  z.object(
    {
      id: base64url,
      rawId: base64url,
      type: z.literal("public-key", 'must be "public-key"'),
      response: z.object({ clientDataJSON: base64url, ...members }, "must be an object"),
      clientExtensionResults: z.record(z.string(), z.unknown(), "must be an object").optional(),
    },
    "must be the answer of navigator.credentials, as its toJSON() writes it",
  );
const transports = z.array(z.string("must be a text"), "must be a list of texts").optional();

/** The form of `response` by endpoint. Source: WebAuthn Level 3, section 5.1. */
const forms: Record<string, z.ZodType> = {
  "/passkey/verify-registration": answerOf({ attestationObject: base64url, transports }),
  "/passkey/verify-authentication": answerOf({ authenticatorData: base64url, signature: base64url }),
};

export const passkeyRules: BetterAuthPlugin = {
  id: "svc-passkeys",
  hooks: {
    before: [
      {
        matcher: ({ path }) => path !== undefined && Object.hasOwn(forms, path),
        handler: createAuthMiddleware(async ({ path, body }) => {
          const [issue] = forms[path]?.safeParse(Object(body).response).error?.issues ?? [];
          if (issue) invalid(["response", ...issue.path.map(String)], issue.message);
        }),
      },
    ],
    after: [
      {
        matcher: ({ path }) => path === "/passkey/verify-registration",
        handler: createAuthMiddleware(async ({ context: { returned, adapter, internalAdapter } }) => {
          const { id, userId, credentialID, session } = Object(returned) as Stored;
          if (!id || !userId || !credentialID) return;
          // Those who registered at the same moment did not see each other: each of them is refused.
          const count = counting(adapter);
          const isKnown = (await count("credentialID", credentialID)) > 1;
          if (!isKnown && (await count("userId", userId)) <= most.perUser) return;
          await adapter.delete({ model: "passkey", where: [{ field: "id", value: id }] });
          if (session?.token) await internalAdapter.deleteSession(session.token);
          throw isKnown ? known() : many();
        }),
      },
    ],
  },
};

type Handler = (context: { request?: Request }) => Promise<unknown>;

/**
 * The plugin, without its answers that blame the wrong side. A registration answers 500 to whatever its verification throws, and a
 * sign-in 400 to whatever the database throws after it.
 */
export function blamingRightly(plugin: BetterAuthPlugin): BetterAuthPlugin {
  const endpoints = Object.entries(plugin.endpoints ?? {}).map(([name, endpoint]) => {
    if (!Object.hasOwn(forms, endpoint.path ?? "")) return [name, endpoint];
    const handler = endpoint as unknown as Handler;
    const blaming: Handler = (context) =>
      handler(context).catch((error) => {
        const code = isAPIError(error) ? error.body?.code : undefined;
        const isVerified = verified.has(Object(context.request));
        if (code === "FAILED_TO_VERIFY_REGISTRATION" && !isVerified) throw unverified();
        throw code === "AUTHENTICATION_FAILED" && isVerified ? unsaved() : error;
      });
    return [name, Object.assign(blaming, endpoint)];
  });
  return { ...plugin, endpoints: Object.fromEntries(endpoints) };
}

/** The passkey that the plugin has stored, and the session that it opened with it. */
interface Stored {
  id?: string;
  userId?: string;
  credentialID?: string;
  session?: { token?: string };
}

const refusal = (status: "BAD_REQUEST" | "CONFLICT", message: string) => new APIError(status, { message });
const known = () => refusal("CONFLICT", "This passkey is registered already.");
const many = () => refusal("CONFLICT", `You have ${most.perUser} passkeys. Delete one that is no longer used.`);
const unsaved = () => new APIError("INTERNAL_SERVER_ERROR", { message: "The sign-in could not be saved." });
const unverified = () =>
  refusal(
    "BAD_REQUEST",
    "The answer of the authenticator does not fit the last options of /passkey/generate-register-options: " +
      "its challenge, its page, its host or its signature is another. Ask for new options, and answer those.",
  );
