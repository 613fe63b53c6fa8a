/**
 * The service of `calls.ts`: one procedure that searches the passages. Usage: node bench/search/service.ts URLS, which is JSON
 * with one address for each login.
 */
import { join } from "node:path";
import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { loadConfig } from "../../src/config/load-config.ts";
import { createSvcProcedureBuilders, defineApi, defineAuth, searchable, v } from "../../src/index.ts";
import { startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";

const passages = pgTable(
  "passages",
  {
    id: integer("id").primaryKey(),
    body: text("body"),
    corpus: text("corpus"),
    visibility: text("visibility"),
    userId: text("user_id"),
  },
  (t) => searchable({ fields: [t.body], corpus: t.corpus, visibility: t.visibility, owner: t.userId }),
);

const search = createSvcProcedureBuilders()
  .query.name("passages.search")
  .input(v.object({ query: v.string(), limit: v.number(), snippets: v.boolean() }))
  .handler(({ context, input: { query, limit, snippets } }) =>
    context.search(passages, query, { limit, snippets, scope: { corpus: "bench", visibility: "public" } }),
  );

const config = await loadConfig({ cwd: join(import.meta.dirname, "../app"), env: { PORT: "0" } });
const service = await startService({
  app: { api: defineApi({ procedures: { search } }), auth: defineAuth({}), schema: { passages } },
  config: { ...config, production: true },
  urls: JSON.parse(process.argv[2] ?? ""),
  secrets: ["a secret of at least thirty-two characters"],
  log: createLog("info"),
});
console.info(`Ready: ${service.url}`);
process.once("SIGTERM", () => service.stop().then(() => process.exit(0)));
