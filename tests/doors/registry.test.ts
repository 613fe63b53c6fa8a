// If this file fails, a new function runs with more than the caller's rights, and no test compares its result with the
// policies.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();

/**
 * Every definer function that a request may call: the test that compares it with the policies, or the reason why it
 * returns no row.
 */
const registry: Record<string, { test: string } | { reason: string }> = {
  accept_invitation: { test: "tests/organizations/rights.test.ts" },
  add_service_account_key: { test: "tests/organizations/service-account-rights.test.ts" },
  cancel_job: { reason: "Takes the number of a job and answers for jobs that the transaction's user scheduled." },
  cancel_workflow: { test: "tests/doors/writes.test.ts" },
  carry_trace: { reason: "Writes the traceparent that it is given into the log." },
  claim_key: { test: "tests/http/keyed-calls.test.ts" },
  create_organization: { reason: "Adds an organization with the transaction's user as its owner." },
  emit_message: { reason: "Writes the message that it is given into the log." },
  enqueue_job: { reason: "Adds a job for the transaction's user; it reads no table of users." },
  find_evidence_as_anonymous: { test: "tests/doors/doors.test.ts" },
  find_evidence_as_authenticated: { test: "tests/doors/doors.test.ts" },
  find_objects_as_anonymous: { test: "tests/doors/storage.test.ts" },
  find_objects_as_authenticated: { test: "tests/doors/storage.test.ts" },
  find_passages_as_anonymous: { test: "tests/doors/doors.test.ts" },
  find_passages_as_authenticated: { test: "tests/doors/doors.test.ts" },
  finish_job: { reason: "Removes the job that this worker holds." },
  index_waiting_rows: { reason: "Indexes the rows that its own transaction wrote, and returns nothing." },
  jobs_of_transaction: { test: "tests/studio/dry-run.test.ts" },
  short_answers: { test: "tests/http/short-answers.test.ts" },
  keep_answers: { reason: "Writes the row of the transaction's user, and returns nothing." },
  lock: { reason: "Locks a name of the application's." },
  lock_document: { reason: "Locks a name that holds the caller's id." },
  my_orgs: { test: "tests/organizations/rights.test.ts" },
  open_upload_url: { test: "tests/security/storage-writes.test.ts" },
  read_messages: { test: "tests/realtime/durable-history.test.ts" },
  record_step: { reason: "Writes for the one run that the worker holds with this fence." },
  remove_service_account_key: { test: "tests/organizations/service-account-rights.test.ts" },
  retry_workflow: { test: "tests/doors/writes.test.ts" },
  retry_delivery_as_authenticated: { test: "tests/doors/writes.test.ts" },
  row_deliveries_as_authenticated: { test: "tests/doors/pages.test.ts" },
  row_history_as_anonymous: { test: "tests/doors/pages.test.ts" },
  row_history_as_authenticated: { test: "tests/doors/pages.test.ts" },
  search_keyword_as_anonymous: { test: "tests/doors/doors.test.ts" },
  search_keyword_as_authenticated: { test: "tests/doors/doors.test.ts" },
  search_passages: { reason: "Reads no table: it gets the texts and the query." },
  search_target: { reason: "Tells the declaration of a table, which the application's schema says." },
  service_account_keys: { test: "tests/organizations/service-account-rights.test.ts" },
  signal_workflow: { test: "tests/doors/writes.test.ts" },
  start_transcription: { test: "tests/doors/storage.test.ts" },
  start_workflow: { reason: "Adds a run for the transaction's user." },
  store_messages: { reason: "Stores the messages that it is given, and returns no row." },
  store_object: { test: "tests/security/storage-writes.test.ts" },
  tables_read: { reason: "Names the tables that its own transaction has locked, to the login of requests alone." },
  try_lock: { reason: "Locks a name of the application's." },
  verified_email: { test: "tests/organizations/rights.test.ts" },
};

test("every definer function that a request may reach has a line in this file's registry, and no other", async () => {
  const rows = await db.sql<{ name: string }>(
    `select distinct p.proname::text as name
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where p.prosecdef and n.nspname in ('svc', 'svc_hidden', 'svc_private', 'svc_crud', 'auth', 'graphile_worker')
        and exists (
          select from unnest(array['svc_anonymous', 'svc_authenticated', 'svc_request']) as role
           where has_function_privilege(role, p.oid, 'execute') and has_schema_privilege(role, n.oid, 'usage')
        )
      order by 1`,
  );
  const found = rows.map(({ name }) => name);
  const registered = Object.keys(registry);
  expect({
    "add a line to registry, and a door to tests/doors if it gives rows": found.filter(
      (name) => !registered.includes(name),
    ),
    "remove the line": registered.filter((name) => !found.includes(name)),
  }).toEqual({
    "add a line to registry, and a door to tests/doors if it gives rows": [],
    "remove the line": [],
  });
});

test("the tests that the registry names exist", () => {
  const named = Object.values(registry).flatMap((line) => ("test" in line ? [line.test] : []));
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
