/**
 * A limit: node:http and pg in pipeline mode, no framework. Everything of a call leaves at once, and every statement is
 * prepared. The same guarantees as the other peers: a verified JWT, identity and role for the policies, a request id and
 * one log line. Usage: node bench/peers/bare-pg.ts DATABASE_URL JWKS_URL ISSUER
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";
import { pino } from "pino";
import { verifier } from "./bearer.ts";

const [connectionString = "", jwksUrl = "", issuer = ""] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString, max: 10, pipeline: true } as pg.PoolConfig);
const log = pino();
const verify = verifier(jwksUrl, issuer);

const columns = `id, user_id as "userId", title, done, priority, created_at as "createdAt", updated_at as "updatedAt"`;

interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

interface Body {
  id?: number;
  title?: string;
  page?: number;
  limit?: number;
  filters?: { done?: boolean; priority?: number };
}

async function asUser(userId: string, ...statements: Statement[]): Promise<pg.QueryResult[]> {
  const client = await pool.connect();
  try {
    const answers = [
      client.query("begin"),
      client.query({
        name: "enter",
        text: "select set_config('svc.user_id', $1, true), set_config('role', 'svc_authenticated', true)",
        values: [userId],
      }),
      ...statements.map((statement) => client.query(statement)),
      client.query("commit"),
    ];
    const settled = await Promise.allSettled(answers);
    const failed = settled.find(({ status }) => status === "rejected");
    if (failed) throw (failed as PromiseRejectedResult).reason;
    return settled.slice(2, -1).map((one) => (one as PromiseFulfilledResult<pg.QueryResult>).value);
  } finally {
    client.release();
  }
}

/** One name for each combination of filters. */
function listOf({ page = 1, limit = 20, filters = {} }: Body): [Statement, Statement] {
  const given = (["done", "priority"] as const).filter((name) => filters[name] !== undefined);
  const values = given.map((name) => filters[name]);
  const where = given.map((name, index) => ` and ${name} = $${index + 1}`).join("");
  const [last, next] = [given.length + 1, given.length + 2];
  return [
    {
      name: `list ${given}`,
      text: `select ${columns} from items where true${where} order by created_at desc, id desc limit $${last} offset $${next}`,
      values: [...values, limit, (page - 1) * limit],
    },
    { name: `count ${given}`, text: `select count(*)::int as total from items where true${where}`, values },
  ];
}

const routes: Record<string, (userId: string, body: Body) => Promise<unknown>> = {
  async "/get"(userId, { id }) {
    const [found] = await asUser(userId, {
      name: "get",
      text: `select ${columns} from items where id = $1`,
      values: [id],
    });
    return found?.rows[0] ?? null;
  },
  async "/list"(userId, body) {
    const [data, counted] = await asUser(userId, ...listOf(body));
    return { data: data?.rows, total: counted?.rows[0].total };
  },
  async "/create"(userId, { title }) {
    const [made] = await asUser(userId, {
      name: "create",
      text: `insert into items (user_id, title) values ($1, $2) returning ${columns}`,
      values: [userId, title],
    });
    return made?.rows[0];
  },
};

async function read(request: IncomingMessage): Promise<Body> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return JSON.parse(text);
}

const server = createServer(async (request, response) => {
  const started = performance.now();
  const requestId = randomUUID();
  let status = 200;
  let answer: unknown;
  try {
    const userId = await verify(request.headers.authorization);
    const route = routes[request.url ?? ""];
    if (!userId) status = 401;
    else if (!route) status = 404;
    else answer = { json: await route(userId, await read(request)) };
  } catch (err) {
    status = 500;
    log.error({ err, requestId });
  }
  const body = JSON.stringify(answer ?? { error: status });
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
  });
  response.end(body);
  log.info({ requestId, path: request.url, status, ms: performance.now() - started });
});
server.listen(0, () => console.info(`Ready: http://localhost:${(server.address() as AddressInfo).port}`));
