/** The words of @svc/testing. An *app* under test is one service on one database, for one test file. */
import type { Operations, SvcClient } from "@svc/client";
import type { Failure, Seed } from "@svc/core/internal";
import type { Mailbox } from "./mailbox.ts";

/** A user to be made. Further members are additional fields, as `auth.ts` declares them. */
export interface NewTestUser {
  /** (Default: one that nobody else has) */
  email?: string;
  /** (Default: what stands before the @) */
  name?: string;
  /** For tests of the sign-in itself: hashing it takes a tenth of a second. (Default: none) */
  password?: string;
  /** (Default: true) */
  emailVerified?: boolean;
  [field: string]: unknown;
}

/** A client in a user's name. */
export interface TestUser<Api extends Operations = Operations> extends SvcClient<Api> {
  readonly user: { id: string; email: string; name: string };
}

export interface TestApp<Api extends Operations = Operations> extends AsyncDisposable {
  /** Where the service listens. */
  readonly url: string;
  /** Mails of the authentication: none is sent. */
  readonly mail: Mailbox;
  /**
   * A client with a session of its own, of a user who is made for it.
   *
   * @param who the user to be made, or the e-mail address of one who exists
   * @throws TypeError for a field that auth.ts does not declare
   * @example
   * const ann = await app.asUser({ name: "Ann", role: "admin" });
   * await ann.mutate(api.notes.create, { text: "milk" });
   */
  asUser(who?: NewTestUser | string): Promise<TestUser<Api>>;
  /** A client of somebody who has not signed in, and can: `app.anonymous().auth.signUp(…)`. */
  anonymous(): SvcClient<Api> & { readonly auth: NonNullable<SvcClient["auth"]> };
  /**
   * Runs what is due, and what that makes due, until nothing is.
   *
   * @param options.failures `return` gives failures back; to be used where a test is about them. (Default: "throw")
   * @throws JobsFailed when a job or a workflow failed; what runs again later counts too
   */
  flushJobs(options?: { failures?: "throw" | "return" }): Promise<{ ran: number; failures: Failure[] }>;
  /**
   * Lets time pass for what waits in the database: delays of jobs, sleeps, waits and deadlines of workflows, crons. The
   * clock stays as it is, and so do sessions and tokens. Runs nothing: `flushJobs` does.
   *
   * @param time as PostgreSQL reads an interval, such as "2 hours"; or in milliseconds
   */
  passTime(time: string | number): Promise<void>;
  /** Enqueues a cron's procedure as if its time had come. @param name as in `cron.name(…)` */
  enqueueCron(name: string): Promise<void>;
  /** Runs the application's seed: its users then exist, for `asUser("ann@example.com")`. @param seed what seed.ts exports */
  seed(seed: Seed): Promise<void>;
  /** Runs one statement as the administrator, past row-level security, and gives its rows. */
  sql<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Stops the service and drops the database. */
  close(): Promise<void>;
}
