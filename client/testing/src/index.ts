/** The public API of @svc/testing. Everything else is internal. */
export { JobsFailed } from "./jobs-failed.ts";
export type { Mail, Mailbox } from "./mailbox.ts";
export { createTestApp, type TestAppOptions } from "./test-app.ts";
export type { NewTestUser, TestApp, TestUser } from "./types.ts";
