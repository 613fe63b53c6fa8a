/**
 * Sign-up, sign-in and changes of one's own account for the application's handlers: the same rules, limits, hooks and
 * mails as the endpoints below /api/auth.
 * Next hop: `passwords/credentials.ts`, and better-auth's internal adapter, through `library.ts`.
 */
import { z } from "zod";
import type { Client, HandlerAuth, SignedIn } from "../contract/handler-auth.ts";
import { networkOf } from "../http/client-address.ts";
import type { Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isConflict } from "../postgres/errors.ts";
import { actAs } from "./caller.ts";
import { inEndpoint } from "./endpoint-context.ts";
import { addressHeader } from "./library-types.ts";
import { checked, email as emailRule, nameRule, passwordRules, text } from "./passwords/rules.ts";
import { secondFactorRequired } from "./passwords/second-factor.ts";
import { refused } from "./refusals.ts";
import { type AuthParts, requirePasswords, tokenAnswer } from "./routes/endpoint.ts";
import { presentSession, requireOwner } from "./sessions/present-session.ts";
import type { AdditionalFields } from "./user-fields.ts";

export function handlerAuth(parts: AuthParts, fields: AdditionalFields): HandlerAuth {
  const { attempts, credentials, library, links, passwords, sessions, verified } = parts;
  const { internalAdapter, adapter } = library.context;
  const changesRule = rowRule(fields);
  const { newPassword } = passwordRules(library);

  const update = async ({ id, user }: Session, changes: Record<string, unknown>) => {
    const updated = await library
      .transaction(async () => {
        const row = await internalAdapter.updateUser(user.id, changes);
        // The update may have waited for a new password, which ends sessions.
        await presentSession(library, { id, userId: user.id });
        return row;
      })
      .catch((cause) => {
        if (!isConflict(cause)) throw cause;
        throw "email" in changes ? new SvcError("EMAIL_TAKEN") : new SvcError("CONFLICT", undefined, { cause });
      });
    if (!updated) throw refused();
    verified.forget(user.id); // the next call of this client may come before the notice
    return updated;
  };
  const signedIn = (opened: Parameters<typeof tokenAnswer>[1]): Promise<SignedIn> => tokenAnswer(parts, opened);

  return {
    async signUp(input, client) {
      requirePasswords(credentials.enabled);
      return signedIn((await as(client, (about) => credentials.signUp(input, about))).opened);
    },
    async signIn(input, client) {
      requirePasswords(credentials.enabled);
      const { opened } = await as(client, (about) => credentials.signIn(input, about));
      if (!opened) throw secondFactorRequired();
      return signedIn(opened);
    },
    async signOut({ id }) {
      const row = await adapter.findOne<{ token: string }>({ model: "session", where: [{ field: "id", value: id }] });
      if (row) await sessions.end(row.token);
    },
    async updateUser(session, changes) {
      await update(session, await checked(changesRule, changes));
    },
    async changeEmail(session, input, client) {
      const email = await checked(emailRule, input);
      if (email === session.user.email) return;
      await requireOwner(library, session);
      // A taken address counts, too: the answer tells that it has an account. Its mails are counted with the mail.
      await as(client, (about) => attempts.mail([], about));
      if (await internalAdapter.findUserByEmail(email)) throw new SvcError("EMAIL_TAKEN");
      await links.mailQuietly(await update(session, { email, emailVerified: false }));
    },
    setPassword: (session, input, client) =>
      as(client, (about) =>
        inEndpoint(library, "/change-password", about, async () => {
          requirePasswords(credentials.enabled);
          const password = await checked(newPassword, input);
          await requireOwner(library, session);
          const old = await passwords.hashOf(session.user.id);
          const hash = await passwords.hashQueue.run(() => passwords.hash(password));
          if (await passwords.replace(session.user.id, { old, hash, keep: session.id })) return;
          throw new SvcError("CONFLICT", "The password was changed by another request meanwhile.");
        }),
      ),
  };
}

/** Runs an action of a client. Attempts and turns in the hash queue count for the client's network. */
function as<T>({ address, userAgent, left }: Client, act: (about: Headers) => Promise<T>): Promise<T> {
  const about = new Headers({ "user-agent": userAgent.slice(0, 512) });
  if (address) about.set(addressHeader, address);
  return actAs({ network: networkOf(address), left: () => left }, () => act(about));
}

/** Rules of a changed row. Unknown members are refused, because they would be ignored silently. */
function rowRule(fields: AdditionalFields) {
  const rules = { text: text("It"), boolean: z.boolean(), integer: z.int32(), timestamp: z.date() };
  const own = Object.entries(fields).map(([name, { type }]) => [name, rules[type].nullable().optional()]);
  const image = text("The image").max(2048, "The image is longer than 2048 characters.").nullable().optional();
  return z.strictObject({ name: nameRule.optional(), image, ...Object.fromEntries(own) });
}
