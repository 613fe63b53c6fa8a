/**
 * Hashes passwords as the library does, at a hundredth of its cost, because sign-ups take most of the time of many
 * tests. The stored form is the same; `sign-up.test.ts` checks the real cost.
 */
import { randomBytes, scrypt } from "node:crypto";
import type { AuthDefinition } from "../../src/contract/auth.ts";

const derive = (password: string, salt: string) =>
  new Promise<string>((resolve, reject) => {
    const done = (error: Error | null, key: Buffer) => (error ? reject(error) : resolve(key.toString("hex")));
    scrypt(password.normalize("NFKC"), salt, 64, { N: 128, r: 16, p: 1 }, done);
  });

const quick = {
  hash: async (password: string) => {
    const salt = randomBytes(16).toString("hex");
    return `${salt}:${await derive(password, salt)}`;
  },
  verify: async ({ hash, password }: { hash: string; password: string }) => {
    const [salt = "", key] = hash.split(":");
    return (await derive(password, salt)) === key;
  },
};

/** @returns the same definition with cheap password hashes, unless it has its own hash function */
export function withQuickPasswords(definition: AuthDefinition): AuthDefinition {
  return {
    ...definition,
    betterAuth: (defaults) => {
      const options = definition.betterAuth?.(defaults) ?? defaults;
      // Without `enabled`, which better-auth's type demands: svc adds what a hook leaves out.
      const own = options.emailAndPassword as NonNullable<typeof options.emailAndPassword>;
      return { ...options, emailAndPassword: { password: quick, ...own } };
    },
  };
}
