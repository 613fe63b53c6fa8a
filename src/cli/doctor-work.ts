/**
 * For `svc doctor`: jobs and runs that the application's code cannot finish, as before or after a release; deliveries of webhooks
 * that no receiver took; months of the history and messages of channels that should be gone; roles that no code knows.
 */
import type pg from "pg";
import { defaultRoles } from "../contract/auth.ts";
import type { LoadedApp } from "../contract/loaded-app.ts";
import { advice, type Finding } from "./doctor-connections.ts";
import { resultOf } from "./inspect.ts";
import { about } from "./table.ts";

interface Work {
  kind: "procedure" | "workflow";
  name: string;
  version: number | null;
  number: string;
}

/** In names: how many are told. */
const most = 20;

export async function examineWork(pool: pg.Pool, api: LoadedApp["api"]): Promise<Finding[]> {
  const { procedures, workflows } = api["~svc"];
  const { rows } = await pool.query<Work>("select * from svc_private.list_unfinished_work()");
  const unknown = rows.filter(({ kind, name, version }) =>
    kind === "procedure"
      ? procedures.get(name)?.kind !== "internal"
      : !workflows.get(name)?.some((one) => one.version === version),
  );
  if (unknown.length === 0) return [];
  const lines = unknown.slice(0, most).map(({ kind, name, version, number }) => {
    const [what, unit] =
      kind === "procedure"
        ? [`internal procedure "${name}"`, "job"]
        : [`workflow "${name}", version ${version}`, "run"];
    return `${what}: ${about(number)} ${unit}${number === "1" ? "" : "s"}`;
  });
  if (unknown.length > most) lines.push(`${unknown.length - most} more`);
  const text = [
    "Jobs and runs need definitions that this code does not have:",
    ...lines.map((line) => `  ${line}`),
    "  They fail unless a worker of another release has them. Register them until these are done, or cancel these:",
    "  svc jobs list, svc workflows list.",
  ];
  return [advice(text.join("\n"))];
}

/** A role that is declared no more keeps its members. `admin` also keeps its rights: the database has them. */
export async function examineRoles(pool: pg.Pool, { organizations }: LoadedApp["auth"]): Promise<Finding[]> {
  if (!organizations) return [];
  const declared = (organizations !== true && organizations.roles) || defaultRoles;
  const { rows } = await pool.query<{ role: string; members: string }>(
    "select role, members::text from svc_private.members_by_role($1, $2)",
    [declared, most],
  );
  if (rows.length === 0) return [];
  const roles = rows.map(({ role, members }) => `${role} (${about(members)})`).join(", ");
  const text =
    `Members of organizations have roles that auth.ts does not declare: ${roles}. The role admin keeps its rights.\n` +
    `  Set a declared role in their rows of svc.organization_members, by psql or in a migration.`;
  return [advice(text)];
}

/** @param historyDays `limits.historyDays` */
export async function examineKept(pool: pg.Pool, historyDays: number | false): Promise<Finding[]> {
  const text = "select value from svc_private.service_state() where metric = 'webhook_deliveries' and state = 'dead'";
  const [dead] = (await pool.query<{ value: number }>(text)).rows;
  const kept = await resultOf<number | null>(pool, "overdue_history", historyDays || null);
  const stored = await resultOf<number | null>(pool, "overdue_messages");
  const failing = await endpointsThatFail(pool);
  const told = [
    failing &&
      `Deliveries of webhooks fail, and are tried again: ${failing}.\n` +
        "  See svc webhooks list --state pending, and whether the receivers answer.",
    dead?.value &&
      `Deliveries of webhooks have used up their attempts: ${about(String(dead.value))}.\n  See svc webhooks list --state dead.`,
    kept &&
      `A month of the history is ${kept} days older than limits.historyDays: the daily sweep could not drop it.\n` +
        "  It needs a worker, and a moment without a long transaction on an audited table.",
    stored &&
      `Messages of durable channels are stored ${stored} days longer than their channels say. Nobody reads them any more.\n` +
        "  The daily sweep removes them. It needs a worker.",
  ];
  return told.flatMap((text) => (text ? advice(text) : []));
}

/** A receiver that restarts takes a delivery at its second or third attempt, half a minute later. */
async function endpointsThatFail(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ endpoint: string; number: string; error: string }>(
    `select endpoint, count(*) as number, (array_agg(last_error order by created_at desc))[1] as error
       from svc_private.list_deliveries('pending', null, null, 10000)
      where attempts >= 3 and last_error is not null group by 1 order by 2 desc, 1 limit ${most}`,
  );
  return rows.map(({ endpoint, number, error }) => `${number} to ${endpoint} (${error})`).join(", ");
}
