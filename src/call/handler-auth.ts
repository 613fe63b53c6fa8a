/**
 * `context.auth`: the session of the caller, and acts on accounts. The acts commit at once, on connections of their own,
 * and not with the call: a rollback does not undo them.
 * Next hop: `src/auth/handler-auth.ts`.
 */
import type { Caller } from "../contract/caller.ts";
import type { ContextAuth } from "../contract/context.ts";
import type { HandlerAuth } from "../contract/handler-auth.ts";
import { misuseError } from "../kit/misuse-error.ts";
import { isAnotherCall } from "../kit/running-call.ts";
import type { Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Access } from "../postgres/access.ts";
import { callHasEnded, usedElsewhere } from "../postgres/failures.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";

/**
 * @param call the number of the call, whose code alone may use it
 * @param transaction of the call, which says when it has ended
 * @param auth undefined in a process without sign-in, such as a worker
 */
export function contextAuth(
  { session, client }: Caller,
  call: number,
  transaction: Pick<RequestTransaction, "isOver">,
  access: Access,
  auth: (() => Promise<HandlerAuth>) | undefined,
  production: boolean,
): ContextAuth {
  const getSession = (act = "getSession"): Session | null => {
    if (isAnotherCall(call)) throw misuseError(`context.auth.${act}`, usedElsewhere, production);
    return session;
  };
  const requireAuth = (act = "requireAuth"): Session => {
    const own = getSession(act);
    if (!own) throw new SvcError("UNAUTHORIZED");
    return own;
  };
  /** The session whose account an act changes. */
  const requireOwn = (act: string): Session => {
    const own = requireAuth(act);
    if (!own.key) return own;
    throw new SvcError("FORBIDDEN", "An API key may not change the account.", {
      hint: `context.auth.${act} takes a call with the user's own session.`,
    });
  };
  const acting = async (act: string) => {
    if (transaction.isOver) throw misuseError(`context.auth.${act}`, callHasEnded, production);
    getSession(act);
    if (access === "read") {
      throw new SvcError("QUERY_WROTE", `context.auth.${act} writes, and this call only reads.`, {
        hint: "Make it a mutation, or a route with another verb than GET.",
      });
    }
    if (auth && client) return { client: client(), auth: await auth() };
    throw misuseError(`context.auth.${act}`, "a job has no request that it could sign anybody in for", production);
  };
  return {
    getSession: () => getSession(),
    requireAuth: () => requireAuth(),
    signUp: async (input) => {
      const { auth, client } = await acting("signUp");
      return auth.signUp(input, client);
    },
    signIn: async (input) => {
      const { auth, client } = await acting("signIn");
      return auth.signIn(input, client);
    },
    signOut: async () => {
      const { auth } = await acting("signOut");
      return auth.signOut(requireOwn("signOut"));
    },
    updateUser: async (changes) => {
      const { auth } = await acting("updateUser");
      return auth.updateUser(requireOwn("updateUser"), changes);
    },
    changeEmail: async (email) => {
      const { auth, client } = await acting("changeEmail");
      return auth.changeEmail(requireOwn("changeEmail"), email, client);
    },
    setPassword: async (password) => {
      const { auth, client } = await acting("setPassword");
      return auth.setPassword(requireOwn("setPassword"), password, client);
    },
  };
}
