/**
 * `svc ai usage`: model usage and cost per user and day, from the ledger.
 * Next hop: `sql/ai/list_usage.sql`.
 */

import { cwdArgument, say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { withSystem } from "./inspect.ts";
import { wholeNumber } from "./options.ts";
import { print } from "./output.ts";
import { table } from "./table.ts";

interface UsageRow {
  day: string;
  user_id: string | null;
  email: string | null;
  model: string;
  calls: string;
  input_tokens: string;
  output_tokens: string;
  charged: string;
  reserved: string;
}

const usage = defineCommand({
  description: "Usage and cost by day, user and model.",
  args: {
    ...cwdArgument,
    days: { type: "string", description: "How many days (UTC), including today. (Default: 7)", default: "7" },
    user: { type: "string", description: "Only this user, by id or e-mail address. (Default: all)" },
    model: { type: "string", description: "Only this model. (Default: all)" },
    limit: { type: "string", description: "Rows at most. (Default: 100)", default: "100" },
  },
  run: ({ args }) => {
    const [days, limit] = [wholeNumber("days", args.days), wholeNumber("limit", args.limit)];
    return withSystem(args.cwd, async (pool) => {
      const text = "select l.*, l.day::text as day from svc_private.list_usage($1, $2, $3, $4) l";
      const { rows } = await pool.query<UsageRow>(text, [args.user ?? null, args.model ?? null, days, limit]);
      const head = ["day (UTC)", "user", "model", "calls", "tokens in", "tokens out", "credits", "reserved"];
      print(rows, () => table(head, rows.map(line)));
      const sum = rows.reduce((total, row) => total + Number(row.charged), 0);
      say(`${amount(String(sum))} credits in ${days === 1 ? "1 day" : `${days} days`}${more(rows.length, limit)}.`);
    });
  },
});

export const command = defineCommand({
  subCommands: { usage },
});

const line = (row: UsageRow): string[] => [
  row.day,
  row.email ?? row.user_id ?? "system",
  row.model,
  row.calls,
  row.input_tokens,
  row.output_tokens,
  amount(row.charged),
  Number(row.reserved) > 0 ? amount(row.reserved) : "-",
];

/** Rounded, without binary fractions. */
const amount = (credits: string) => String(Number(Number(credits).toFixed(6)));

const more = (rows: number, limit: number) => (rows === limit ? `, counting only the first ${limit} rows` : "");
