/** `svc ai usage`: model usage and cost per user and day, from the ledger. Next hop: `sql/ai/list_usage.sql`. */
import { say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { systemCommand } from "./inspect.ts";
import { number, text } from "./options.ts";
import { printRows } from "./output.ts";

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

const usage = systemCommand({
  description: "Usage and cost by day, user and model.",
  args: {
    days: number("How many days (UTC), including today.", { default: 7 }),
    user: text("Only this user, by id or e-mail address. (Default: all)"),
    model: text("Only this model. (Default: all)"),
    limit: number("Rows at most.", { default: 100 }),
  },
  run: async (pool, { days, user, model, limit }) => {
    const text = "select l.*, l.day::text as day from svc_private.list_usage($1, $2, $3, $4) l";
    const { rows } = await pool.query<UsageRow>(text, [user, model, days, limit]);
    printRows(rows, {
      "day (UTC)": "day",
      user: ({ email, user_id }) => email ?? user_id ?? "system",
      model: "model",
      calls: "calls",
      "tokens in": "input_tokens",
      "tokens out": "output_tokens",
      credits: ({ charged }) => amount(charged),
      reserved: ({ reserved }) => (Number(reserved) > 0 ? amount(reserved) : null),
    });
    const sum = rows.reduce((total, row) => total + Number(row.charged), 0);
    say(`${amount(String(sum))} credits in ${days === 1 ? "1 day" : `${days} days`}${more(rows.length, limit)}.`);
  },
});

export const command = defineCommand({ subCommands: { usage } });

/** Rounded, without binary fractions. */
const amount = (credits: string) => String(Number(Number(credits).toFixed(6)));

const more = (rows: number, limit: number) => (rows === limit ? `, counting only the first ${limit} rows` : "");
