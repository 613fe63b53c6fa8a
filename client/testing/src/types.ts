/** The types of @svc/testing. An *app* under test is one service on one database, for one test file. */
import type { Operations, SvcClient } from "@svc/client";
import type { Failure, Seed } from "@svc/core/internal";
import type { Mailbox } from "./mailbox.ts";

/** A user to create. Further members are additional fields, as `auth.ts` declares them. */
export interface NewTestUser {
  /** (Default: a unique one) */
  email?: string | undefined;
  /** (Default: the part of the address before the @) */
  name?: string | undefined;
  /** For tests of the sign-in. Hashing takes a tenth of a second. (Default: none) */
  password?: string | undefined;
  /** (Default: true) */
  emailVerified?: boolean | undefined;
  [field: string]: unknown;
}

/** A client that is signed in as a user. */
export interface TestUser<Api extends Operations = Operations> extends SvcClient<Api> {
  readonly auth: NonNullable<SvcClient["auth"]>;
  readonly user: { id: string; email: string; name: string };
}

export interface TestApp<Api extends Operations = Operations> extends AsyncDisposable {
  /** The address of the service. */
  readonly url: string;
  /** Authentication mails; none is sent. */
  readonly mail: Mailbox;
  /**
   * A client with a new session of a user, who is created if needed.
   *
   * @param who the user to create, or the e-mail address of an existing one
   * @throws TypeError for a field that auth.ts does not declare
   * @example
   * const ann = await app.asUser({ name: "Ann", role: "admin" });
   * await ann.mutate(api.notes.create, { text: "milk" });
   */
  asUser(who?: NewTestUser | string): Promise<TestUser<Api>>;
  /** A client without a session, which can sign in: `app.anonymous().auth.signUp(…)`. */
  anonymous(): SvcClient<Api> & { readonly auth: NonNullable<SvcClient["auth"]> };
  /**
   * Runs due jobs, and jobs that become due by them, until none is left.
   *
   * @param options.failures `return` returns failures, for tests that expect them. (Default: "throw")
   * @throws JobsFailed when a job or a workflow failed, even if it is retried later
   */
  flushJobs(options?: { failures?: "throw" | "return" | undefined }): Promise<{ ran: number; failures: Failure[] }>;
  /**
   * Lets time pass for waiting work in the database: delays of jobs, sleeps, waits and deadlines of workflows, crons,
   * windows of rate limits. The clock, sessions and tokens do not change. Runs nothing: `flushJobs` does.
   *
   * @param time an interval as PostgreSQL reads it, such as "2 hours"; or milliseconds
   */
  passTime(time: string | number): Promise<void>;
  /** Enqueues a cron's procedure as if its time had come. @param name as in `cron.name(…)` */
  enqueueCron(name: string): Promise<void>;
  /**
   * Runs the application's seed, which creates users for `asUser("ann@example.com")`.
   *
   * @param seed the export of seed.ts
   */
  seed(seed: Seed): Promise<void>;
  /** Runs one statement as the administrator, bypassing row-level security, and returns its rows. */
  sql<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Stops the service and drops the database. */
  close(): Promise<void>;
}
