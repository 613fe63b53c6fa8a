/** Checks of `svc doctor`: what `svc db lint` finds, and whether triggers fire. Next hop: `sql/lint/lint_schema.sql`. */
import type pg from "pg";
import type { Pools } from "../postgres/pools.ts";
import { lintSchema } from "./db/lint.ts";
import type { Finding } from "./doctor-connections.ts";

type Asked = Pick<pg.Pool, "query">;

/** Advice only: on a host without a superuser an error may be there to stay. */
export async function examineSchema(system: Asked): Promise<Finding[]> {
  const [first, ...others] = (await lintSchema(system)).filter(({ severity }) => severity === "error");
  if (!first) return [{ kind: "ok", text: "svc db lint finds no errors" }];
  const count = `svc db lint finds ${others.length + 1} ${others.length > 0 ? "errors, such as" : "error"}`;
  return [{ kind: "advice", text: `${count}: ${first.name} ${first.problem}.\n  Run svc db lint.` }];
}

/** A login, the database or the server may have the setting. */
export async function examineTriggers(pools: Record<keyof Omit<Pools, "close">, Asked>): Promise<Finding[]> {
  const ask = async (pool: Asked) => {
    const { rows } = await pool.query(
      "select current_user as login, current_setting('session_replication_role') as value",
    );
    return rows[0];
  };
  const all = await Promise.all([pools.request, pools.system, pools.auth].map(ask));
  const off = [...new Set(all.filter(({ value }) => value === "replica").map(({ login }) => login))];
  if (off.length === 0) return [];
  const text =
    `session_replication_role is replica for ${off.join(", ")}: triggers and foreign keys are off. Deleted users leave ` +
    "their rows, ended sessions go on, searches and quotas are wrong.\n" +
    "  Reset it: alter system, alter database or alter role … reset session_replication_role.";
  return [{ kind: "wrong", text }];
}
