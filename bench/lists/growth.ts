/** Whether a call takes as long on a large table as on a small one: p50 per size, over HTTP and in SQL alone. */
import pg from "pg";
import { callText } from "../../src/crud/statement.ts";
import { alternate } from "../measure.ts";
import type { Setting, User } from "./setting.ts";
import { ask } from "./sides.ts";

/** How much slower than on the smallest a call may be on the largest. */
const flat = 1.5;

export interface Call {
  user: User;
  /** The resource's prefix. */
  prefix: string;
  operation: "list" | "update" | "remove";
  args(): Record<string, unknown>;
}

/** One line of results: the same call at several sizes. */
export interface Series {
  title: string;
  calls: Call[];
  /** (Default: 150) */
  rounds?: number;
}

export async function printGrowth(setting: Setting, series: Series[]): Promise<void> {
  const client = new pg.Client({ connectionString: setting.cluster.urls.request });
  await client.connect();
  try {
    for (const { title, calls, rounds = 150 } of series) {
      print(
        title,
        "http",
        await alternate(
          calls.map((call) => () => viaHttp(setting, call)),
          rounds,
        ),
      );
      print(
        "",
        "sql",
        await alternate(
          calls.map((call) => () => viaSql(client, call)),
          rounds,
        ),
      );
    }
  } finally {
    await client.end();
  }
}

export function printSizes(title: string, sizes: string[]): void {
  console.info(`\n${title}\n  ${"".padEnd(35)}${sizes.map((size) => size.padStart(9)).join("")}   worst`);
}

function print(title: string, way: string, medians: number[]): void {
  const [smallest = Number.NaN] = medians;
  const worst = Math.max(...medians) / smallest;
  console.info(
    `  ${title.padEnd(30)}${way.padEnd(5)}${medians.map((ms) => ms.toFixed(2).padStart(9)).join("")}` +
      `   ${worst.toFixed(2)}x${worst > flat ? "  not flat" : ""}`,
  );
}

function viaHttp({ svc }: Setting, { user, prefix, operation, args }: Call): Promise<unknown> {
  const side = { process: svc, headers: ({ token }: User) => ({ authorization: `Bearer ${token}` }) };
  const path = operation === "list" ? "/api/query" : "/api/mutation";
  return ask(side, user, { path, body: { name: `${prefix}.${operation}`, args: args() } });
}

/** The identical statement. */
export async function viaSql(client: pg.Client, { user, prefix, operation, args }: Call): Promise<unknown> {
  const { id, ...rest } = args();
  const values =
    operation === "list" ? [JSON.stringify(rest)] : operation === "remove" ? [id] : [id, JSON.stringify(rest)];
  const name = `${prefix}_${operation}`;
  const text = callText(name, values.length);
  const { rows } = await client.query({ name, text, values: [user.id, "svc_authenticated", ...values] });
  if (!rows[0]?.result) throw new Error(`${name} gave nothing`);
  return JSON.parse(rows[0].result);
}
