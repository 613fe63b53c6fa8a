/** Lets @svc/testing use the run's own cluster; a private one for each application would take seconds. */
import type { Database } from "./database.ts";

/** Sets SVC_TEST_DATABASE_* for this process. @param db any database of the test file: others are made from it */
export function testServer(db: Database): void {
  Object.assign(process.env, {
    SVC_TEST_DATABASE_URL: db.url("request"),
    SVC_TEST_DATABASE_SYSTEM_URL: db.url("system"),
    SVC_TEST_DATABASE_AUTH_URL: db.url("auth"),
    SVC_TEST_DATABASE_ADMIN_URL: db.url("admin"),
    SVC_TEST_DATABASE_REPLICATION_URL: db.url("replication"),
  });
}
