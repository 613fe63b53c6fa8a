/**
 * Plugins that compare passwords, codes and tokens, and a plugin of the application, for tests of all their endpoints.
 */
import type { BetterAuthPlugin } from "better-auth";
import { APIError, createAuthEndpoint } from "better-auth/api";
import {
  admin,
  anonymous,
  deviceAuthorization,
  emailOTP,
  magicLink,
  multiSession,
  oneTimeToken,
  organization,
  phoneNumber,
  siwe,
  twoFactor,
  username,
} from "better-auth/plugins";
import { z } from "zod";
import { defineAuth } from "../../src/contract/auth.ts";

/** Compared passwords, at any endpoint. */
export const compared: string[] = [];
/** Sent codes, newest last. */
export const sent: string[] = [];

const password = {
  hash: async (text: string) => `hash of ${text}, ${crypto.randomUUID()}`,
  verify: async ({ hash, password: text }: { hash: string; password: string }) => {
    compared.push(text);
    // Waits until concurrent calls have begun, too.
    await new Promise<void>((resolve) => setImmediate(resolve));
    return hash.startsWith(`hash of ${text}, `);
  },
};

/** Names its user by a key that is not known to svc. */
const own = {
  id: "own",
  endpoints: {
    signInOwn: createAuthEndpoint(
      "/own/sign-in",
      { method: "POST", body: z.object({ login: z.string(), word: z.string() }) },
      async ({ body, context, json }) => {
        const found = await context.internalAdapter.findUserByEmail(body.login, { includeAccounts: true });
        const hash = found?.accounts.find(({ password }) => password)?.password;
        const isRight = hash ? await context.password.verify({ hash, password: body.word }) : false;
        if (!isRight) throw new APIError("FORBIDDEN", { message: "No.", code: "NO" });
        return json({});
      },
    ),
  },
} satisfies BetterAuthPlugin;

const send = async ({ otp, code }: { otp?: string; code?: string }) => void sent.push(otp ?? code ?? "");

export const plugins: BetterAuthPlugin[] = [
  twoFactor({ accountLockout: { enabled: false }, otpOptions: { sendOTP: send } }),
  username(),
  phoneNumber({ sendOTP: send, sendPasswordResetOTP: send, allowedAttempts: 1000, signUpOnVerification: undefined }),
  emailOTP({ sendVerificationOTP: send, allowedAttempts: 1000 }),
  magicLink({ sendMagicLink: async () => {} }),
  multiSession(),
  oneTimeToken(),
  anonymous(),
  organization(),
  deviceAuthorization(),
  siwe({ domain: "app.test", getNonce: async () => "nonce", verifyMessage: async () => false }),
  admin(),
  own,
] as BetterAuthPlugin[];

export const definition = defineAuth({
  betterAuth: (defaults) => ({
    ...defaults,
    emailAndPassword: { enabled: true, password },
    // Without the plugins' own rate limits, which count per process.
    rateLimit: { enabled: false },
    plugins,
  }),
});
