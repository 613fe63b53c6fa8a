/**
 * The peer: what a careful engineer writes by hand with Express and pg, under the same policies. BEGIN, identity and
 * role, the query, COMMIT; a JWT verified with jose. Usage: node bench/peers/express.ts DATABASE_URL JWKS_URL ISSUER
 */
import express from "express";
import pg from "pg";
import { bearer } from "./bearer.ts";

const [connectionString, jwksUrl = "", issuer = ""] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString, max: 10 });
const app = express();
app.disable("etag");
app.use(express.json());

const columns = `id, user_id as "userId", title, done, priority, created_at as "createdAt", updated_at as "updatedAt"`;

app.use(bearer(jwksUrl, issuer));

async function asUser<T>(userId: string, run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("select set_config('svc.user_id', $1, true), set_config('role', 'svc_authenticated', true)", [
      userId,
    ]);
    const result = await run(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

app.post("/get", async (request, response) => {
  const result = await asUser(response.locals.userId, (client) =>
    client.query(`select ${columns} from items where id = $1`, [request.body.id]),
  );
  response.json({ json: result.rows[0] ?? null });
});

app.post("/list", async (request, response) => {
  const { page = 1, limit = 20, filters = {} } = request.body;
  const json = await asUser(response.locals.userId, async (client) => {
    const given = ["done", "priority"].filter((name) => filters[name] !== undefined);
    const values = given.map((name) => filters[name]);
    const where = given.map((name, index) => ` and ${name} = $${index + 1}`).join("");
    const rows = await client.query(
      `select ${columns} from items where true${where} order by created_at desc, id desc
        limit $${given.length + 1} offset $${given.length + 2}`,
      [...values, limit, (page - 1) * limit],
    );
    const total = await client.query(`select count(*)::int as total from items where true${where}`, values);
    return { data: rows.rows, total: total.rows[0].total };
  });
  response.json({ json });
});

app.post("/create", async (request, response) => {
  const { userId } = response.locals;
  const result = await asUser(userId, (client) =>
    client.query(`insert into items (user_id, title) values ($1, $2) returning ${columns}`, [
      userId,
      request.body.title,
    ]),
  );
  response.json({ json: result.rows[0] });
});

const server = app.listen(0, () => {
  const address = server.address();
  if (address && typeof address === "object") console.info(`Ready: http://localhost:${address.port}`);
});
