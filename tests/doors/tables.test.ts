// If this file fails, requests may read or change a table of the platform, and no test compares a door to it with its
// policies.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { everything } from "./situations.ts";

const db = database();

/** Tables whose rows the doors do not compare, and why not. */
const others: Record<string, string> = {
  "svc.channel_messages": "No role of a request has a privilege on it.",
  "svc.channels": "No role of a request has a privilege on it.",
  "svc.job_history": "No role of a request has a privilege on it.",
  "svc.operator_acts": "No role of a request has a privilege on it.",
  "svc.webhook_deliveries": "No role of a request has a privilege on it.",
  "svc.storage_uploads": "No role of a request has a privilege on it.",
  "svc.storage_upload_parts": "No role of a request has a privilege on it.",
};

/** Tables of requests that nothing reads past the policies, but svc.my_orgs() and the keys of service accounts, which have tests. */
const plain = ["svc.organization_invitations", "svc.organization_members", "svc.organizations", "svc.service_accounts"];

const tables = (condition: string) =>
  db.sql<{ name: string; exposed: boolean }>(
    `select * from (
       select format('%s.%s', n.nspname, c.relname) as name, n.nspname = 'svc' as is_shared, exists (
           select from unnest('{svc_anonymous,svc_authenticated,svc_request}'::text[]) as role,
                       unnest('{select,insert,update}'::text[]) as privilege
            where has_any_column_privilege(role, c.oid, privilege) or has_table_privilege(role, c.oid, 'delete')) as exposed
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname in ('svc', 'svc_private', 'svc_hidden', 'svc_crud', 'auth', 'graphile_worker')
     ) as t where ${condition} order by name`,
  );

test("every table of schema svc, and every other of the platform that a request may read or change, is in the matrix", async () => {
  const found = (await tables("is_shared or exposed")).map(({ name }) => name);
  const known = [...everything.filter((name) => name !== "public.pages"), ...Object.keys(others), ...plain];
  expect({
    "add it to tables of situations.ts, and a door": found.filter((name) => !known.includes(name)),
    "remove it": known.filter((name) => !found.includes(name)),
  }).toEqual({ "add it to tables of situations.ts, and a door": [], "remove it": [] });
});

test("a table that is not in the matrix is closed to requests", async () => {
  const open = (await tables("exposed")).filter(({ name }) => name in others);
  expect(open).toEqual([]);
});
