/** Builds the `context` of one call. Members are made when they are first read: most calls use one or two of them. */
import type { Logger } from "pino";
import type { Session } from "../auth/session.ts";
import { SvcError } from "../errors/svc-error.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import type { CreateRequestDatabase } from "./database.ts";
import type { Context, ContextAuth, RequestDatabase, SystemDatabase } from "./types.ts";

/** What all calls of a process share. */
export interface ContextServices {
  log: Logger;
  requestDatabase: CreateRequestDatabase;
  systemDatabase: SystemDatabase;
}

/** Who calls, and under which id. */
export interface Caller {
  session: Session | null;
  requestId: string;
}

export const createContext = (services: ContextServices, caller: Caller, transaction: RequestTransaction): Context =>
  new CallContext(services, caller, transaction);

const state = Symbol("state");

/** Its state hangs on a symbol, not on private fields: middleware derives objects from it, which have none. */
class CallContext implements Context {
  readonly [state]: {
    services: ContextServices;
    caller: Caller;
    transaction: RequestTransaction;
    db?: RequestDatabase;
    log?: Logger;
  };

  constructor(services: ContextServices, caller: Caller, transaction: RequestTransaction) {
    this[state] = { services, caller, transaction };
  }

  get db(): RequestDatabase {
    const own = this[state];
    own.db ??= own.services.requestDatabase(own.transaction);
    return own.db;
  }

  get unsafeDb(): SystemDatabase {
    return this[state].services.systemDatabase;
  }

  get log(): Logger {
    const own = this[state];
    own.log ??= own.services.log.child({ requestId: own.caller.requestId });
    return own.log;
  }

  get auth(): ContextAuth {
    const { session } = this[state].caller;
    return {
      getSession: () => session,
      requireAuth() {
        if (!session) throw new SvcError("UNAUTHORIZED");
        return session;
      },
    };
  }

  get requestId(): string {
    return this[state].caller.requestId;
  }
}
