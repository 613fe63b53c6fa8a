/** For `svc doctor`: jobs and runs that the application's code cannot finish, as before or after a release. */
import type pg from "pg";
import type { LoadedApp } from "../contract/loaded-app.ts";
import type { Finding } from "./doctor-connections.ts";
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
  return [{ kind: "advice", text: text.join("\n") }];
}
