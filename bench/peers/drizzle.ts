/**
 * The peer: what a careful engineer writes by hand with Express and Drizzle, under the same policies. A transaction per
 * request that sets identity and role, the rows, their total. Usage: node bench/peers/drizzle.ts DATABASE_URL JWKS_URL ISSUER
 */
import { and, count, desc, eq, ilike, sql } from "drizzle-orm";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import express from "express";
import pg from "pg";
import { items } from "../app/backend/schema.ts";
import { bearer } from "./bearer.ts";

const [connectionString, jwksUrl = "", issuer = ""] = process.argv.slice(2);
const db = drizzle(new pg.Pool({ connectionString, max: 10 }));
const app = express();
app.disable("etag");
app.use(express.json());
app.use(bearer(jwksUrl, issuer));

type Transaction = Parameters<Parameters<NodePgDatabase["transaction"]>[0]>[0];

const asUser = <T>(userId: string, run: (tx: Transaction) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.execute(
      sql`select set_config('svc.user_id', ${userId}, true), set_config('role', 'svc_authenticated', true)`,
    );
    return run(tx);
  });

app.get("/hello/:name", (request, response) => {
  response.json({ hello: request.params.name });
});

app.post("/get", async (request, response) => {
  const [json] = await asUser(response.locals.userId, (tx) =>
    tx.select().from(items).where(eq(items.id, request.body.id)),
  );
  response.json({ json: json ?? null });
});

app.post("/list", async (request, response) => {
  const { page = 1, limit = 20, filters = {}, search } = request.body;
  const condition = and(
    filters.done === undefined ? undefined : eq(items.done, filters.done),
    filters.priority === undefined ? undefined : eq(items.priority, filters.priority),
    search ? ilike(items.title, `%${search.replace(/[\\%_]/g, "\\$&")}%`) : undefined,
  );
  const json = await asUser(response.locals.userId, async (tx) => {
    const data = await tx
      .select()
      .from(items)
      .where(condition)
      .orderBy(desc(items.createdAt), desc(items.id))
      .limit(limit)
      .offset((page - 1) * limit);
    const [counted] = await tx.select({ total: count() }).from(items).where(condition);
    return { data, total: counted?.total };
  });
  response.json({ json });
});

app.post("/create", async (request, response) => {
  const { userId } = response.locals;
  const [json] = await asUser(userId, (tx) =>
    tx.insert(items).values({ userId, title: request.body.title }).returning(),
  );
  response.json({ json });
});

app.post("/update", async (request, response) => {
  const { id, ...changes } = request.body;
  const [row] = await asUser(response.locals.userId, (tx) =>
    tx
      .update(items)
      .set({ title: changes.title, done: changes.done, priority: changes.priority, updatedAt: sql`now()` })
      .where(eq(items.id, id))
      .returning(),
  );
  if (!row) return void response.status(404).json({ error: "not found" });
  response.json({ json: row });
});

app.post("/remove", async (request, response) => {
  const [row] = await asUser(response.locals.userId, (tx) =>
    tx.delete(items).where(eq(items.id, request.body.id)).returning({ id: items.id }),
  );
  if (!row) return void response.status(404).json({ error: "not found" });
  response.json({ json: row });
});

const server = app.listen(0, () => {
  const address = server.address();
  if (address && typeof address === "object") console.info(`Ready: http://localhost:${address.port}`);
});
