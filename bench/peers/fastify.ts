/**
 * The peer: Fastify with postgres.js, which prepares statements and sends those of a transaction without waiting in between.
 * The same guarantees: a verified JWT, identity and role for the policies, a request id and one log line. Usage:
 * node bench/peers/fastify.ts DATABASE_URL JWKS_URL ISSUER
 */
import { randomUUID } from "node:crypto";
import Fastify, { type FastifyRequest } from "fastify";
import postgres from "postgres";
import { verifier } from "./bearer.ts";

const [connectionString = "", jwksUrl = "", issuer = ""] = process.argv.slice(2);
const sql = postgres(connectionString, { max: 10 });
const app = Fastify({ logger: true, genReqId: () => randomUUID() });
const verify = verifier(jwksUrl, issuer);

const columns = sql`id, user_id as "userId", title, done, priority, created_at as "createdAt", updated_at as "updatedAt"`;

app.addHook("onRequest", async (request, reply) => {
  const userId = await verify(request.headers.authorization);
  if (!userId) return reply.code(401).send({ error: "unauthorized" });
  request.headers["x-user"] = userId;
});

/** All statements leave together with the identity: none waits for the answer of another. */
async function asUser<T extends unknown[]>(
  request: FastifyRequest,
  statements: (tx: postgres.TransactionSql) => { [K in keyof T]: postgres.PendingQuery<postgres.Row[]> },
): Promise<postgres.Row[][]> {
  const userId = String(request.headers["x-user"]);
  const [, ...answers] = (await sql.begin((tx) => [
    tx`select set_config('svc.user_id', ${userId}, true), set_config('role', 'svc_authenticated', true)`,
    ...statements(tx),
  ])) as unknown as postgres.Row[][];
  return answers;
}

interface Body {
  id?: number;
  title?: string;
  page?: number;
  limit?: number;
  filters?: { done?: boolean; priority?: number };
}

app.post<{ Body: Body }>("/get", async (request) => {
  const { id = 0 } = request.body;
  const [rows] = await asUser<[1]>(request, (tx) => [tx`select ${columns} from items where id = ${id}`]);
  return { json: rows?.[0] ?? null };
});

app.post<{ Body: Body }>("/list", async (request) => {
  const { page = 1, limit = 20, filters = {} } = request.body;
  const where = sql`where true
    ${filters.done === undefined ? sql`` : sql`and done = ${filters.done}`}
    ${filters.priority === undefined ? sql`` : sql`and priority = ${filters.priority}`}`;
  const [data, counted] = await asUser<[1, 1]>(request, (tx) => [
    tx`select ${columns} from items ${where} order by created_at desc, id desc limit ${limit} offset ${(page - 1) * limit}`,
    tx`select count(*)::int as total from items ${where}`,
  ]);
  return { json: { data, total: counted?.[0]?.total } };
});

app.post<{ Body: Body }>("/create", async (request) => {
  const { title = "" } = request.body;
  const userId = String(request.headers["x-user"]);
  const [rows] = await asUser<[1]>(request, (tx) => [
    tx`insert into items (user_id, title) values (${userId}, ${title}) returning ${columns}`,
  ]);
  return { json: rows?.[0] };
});

app.get<{ Params: { name: string } }>("/hello/:name", async (request) => ({ hello: request.params.name }));

console.info(`Ready: ${await app.listen({ port: 0, host: "127.0.0.1" })}`);
