/**
 * The peer of bench/related.ts: Drizzle's relational query behind Express, under the same policies, in a transaction that
 * sets identity and role, with one log line. Usage: node bench/peers/drizzle-related.ts DATABASE_URL JWKS_URL ISSUER
 */
import { createServer } from "node:http";
import { desc, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import express from "express";
import pg from "pg";
import * as schema from "../app/backend/schema.ts";
import { bearer } from "./bearer.ts";
import { logLines } from "./log-lines.ts";

const [connectionString, jwksUrl = "", issuer = ""] = process.argv.slice(2);
const db = drizzle(new pg.Pool({ connectionString, max: 10 }), { schema });
const app = express();
app.disable("etag");
app.use(express.json());
app.use(bearer(jwksUrl, issuer));

app.post("/articles", async (_, response) => {
  const { userId } = response.locals;
  const rows = await db.transaction(async (tx) => {
    await tx.execute(
      sql`select set_config('svc.user_id', ${userId}, true), set_config('role', 'svc_authenticated', true)`,
    );
    return tx.query.articles.findMany({
      columns: { id: true, title: true, createdAt: true },
      with: {
        author: { columns: { name: true } },
        articleTags: { columns: {}, with: { tag: { columns: { name: true } } } },
      },
      extras: (article) => ({
        commentCount: sql<number>`(select count(*)::int from comments c where c.article_id = ${article.id})`.as(
          "comment_count",
        ),
      }),
      orderBy: [desc(schema.articles.createdAt), desc(schema.articles.id)],
      limit: 20,
    });
  });
  const data = rows.map(({ articleTags, commentCount, ...row }) => ({
    ...row,
    tags: articleTags.map(({ tag }) => tag),
    _count: { comments: commentCount },
  }));
  response.json({ json: { data } });
});

const server = createServer(app);
logLines(server);
server.listen(0, () => {
  const address = server.address();
  if (address && typeof address === "object") console.info(`Ready: http://localhost:${address.port}`);
});
