/**
 * `context.rateLimit`: counts a call of a user, of an anonymous caller's network, or of what the author names.
 * Next hop: `sql/call/count_call.sql`.
 */
import { createHash } from "node:crypto";
import type pg from "pg";
import { z } from "zod";
import type { Caller } from "../contract/caller.ts";
import type { RateLimit } from "../contract/rate-limit.ts";
import { type Duration, milliseconds } from "../kit/duration.ts";
import { misuseError } from "../kit/misuse-error.ts";
import { checkOptions, converted, integer, must } from "../kit/options.ts";
import { SvcError } from "../kit/svc-error.ts";
import { runStatement } from "../postgres/run-statement.ts";

/** In seconds: 31 days. */
const longest = 31 * 86_400;

const nameForm = z.string(must("a text")).regex(/^[^\0]{1,128}$/, must("a text of 1 to 128 characters"));

const limitForm = z.strictObject({
  calls: integer(1, 1_000_000),
  per: converted((per: Duration) => Math.round(milliseconds(per) / 1000)).pipe(
    integer(1, longest, 'from 1 second to 31 days, such as "10 minutes"'),
  ),
  by: z.string(must("a text")).optional(),
});

/** @returns counts a call of a caller, as `CountCall`. It throws INTERNAL for a wrong name or limit */
export function rateLimiter(pool: pg.Pool, production: boolean) {
  const misuse = (message: string) => misuseError("context.rateLimit", message, production);
  return async (caller: Caller, name: string, limit: RateLimit): Promise<void> => {
    checkOptions("name", nameForm, name, misuse);
    const quoted = JSON.stringify(name);
    const { calls, per, by } = checkOptions(quoted, limitForm, limit, misuse);
    const subject = subjectOf(caller, by);
    if (subject === undefined) {
      throw misuse(`${quoted}: a job without a user has no caller to count. Say whose calls are counted: by: "…"`);
    }
    const [row] = await runStatement<{ wait: number }>(pool, {
      name: "svc_count_call",
      text: "select svc_private.count_call($1, $2, $3, $4) as wait",
      values: [name, per, subject, calls],
    });
    if (!row?.wait) return;
    throw new SvcError("RATE_LIMITED", "Too many calls. Try again later.", {
      retryAfter: row.wait,
      cause: `context.rateLimit(${quoted})`,
    });
  };
}

/** What the author names is often an address: the table has only its hash. */
function subjectOf({ session, holder }: Caller, by: string | undefined): string | undefined {
  if (by !== undefined) return `by:${createHash("sha256").update(by).digest("base64url")}`;
  if (session) return `user:${session.user.id}`;
  return holder && `address:${holder}`;
}
