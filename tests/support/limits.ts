/** Limits on attempts for tests of other subjects, which sign up and guess by the hundred from one address. */
import type { AttemptLimits } from "../../src/auth/passwords/attempt-counters.ts";

/** The highest limits, but still counted. Fewer redemptions, because ten thousand would wait for one row. */
export const raisedLimits = {
  requestsPerAddress: false,
  requestsPerUser: false,
  socketsPerAddress: false,
  signInsPerAccount: 1_000_000,
  signInsPerAddress: 1_000_000,
  passwordsPerAccount: 1_000_000,
  passwordsPerAddress: 1_000_000,
  signUpsPerAddress: 1_000_000,
  mailsPerAccount: 1_000_000,
  mailsPerAddress: 1_000_000,
  mails: 1_000_000,
  texts: 1_000_000,
  redemptionsPerAddress: false,
} as const satisfies AttemptLimits & Record<string, number | false>;
