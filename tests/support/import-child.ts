/** A worker in a separate process that kills itself, as kill -9 does, right before or right behind the n-th batch of an import. */
import pg from "pg";
import { defineApi } from "../../src/app/api.ts";
import { procedures } from "../transfer/entries.ts";
import { work } from "./child.ts";

const [urls = "{}", secret = "", where = "", at = "0"] = process.argv.slice(2);

/** The statement of a batch, and the statement of its checkpoint: the batch is written, and not yet committed. */
const statement = { before: "svc.record_step", behind: "svc.import_rows" }[where];
let met = 0;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
  const config = given[0] as { text?: string } | string;
  const text = typeof config === "string" ? config : (config.text ?? "");
  if (statement && text.includes(statement) && ++met === Number(at)) process.kill(process.pid, "SIGKILL");
  return (query as (...all: unknown[]) => unknown).apply(this, given);
} as typeof query;

await work({ api: defineApi({ procedures }), urls, secret }, { rescueEveryMs: 100, queues: ["workflow"] });
