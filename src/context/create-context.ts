/** Builds the `context` of one call. Members are made when they are first read: most calls use one or two of them. */
import type { Logger } from "pino";
import type { Session } from "../auth/session.ts";
import { SvcError } from "../errors/svc-error.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import type { CreateRequestDatabase } from "./database.ts";
import type { Context, RequestDatabase, SystemDatabase } from "./types.ts";

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

export function createContext(services: ContextServices, caller: Caller, transaction: RequestTransaction): Context {
  let db: RequestDatabase | undefined;
  let log: Logger | undefined;
  const { session, requestId } = caller;
  return {
    get db() {
      db ??= services.requestDatabase(transaction);
      return db;
    },
    get unsafeDb() {
      return services.systemDatabase;
    },
    get log() {
      log ??= services.log.child({ requestId });
      return log;
    },
    auth: {
      getSession: () => session,
      requireAuth() {
        if (!session) throw new SvcError("UNAUTHORIZED");
        return session;
      },
    },
    requestId,
  };
}
