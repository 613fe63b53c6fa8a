/**
 * The limit for a server that asks the database about each picture it sends: node:http with a buffer and one prepared
 * statement per request, nothing else. Usage: one-select.ts URL
 */
import { createServer } from "node:http";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 });
const bytes = Buffer.alloc(Number(process.argv[3]));
const id = "00000000-0000-4000-8000-000000000000";
const query = {
  name: "one",
  text: "select id, name, size, type, visibility, sha256 from svc.storage_objects where id = $1",
};

const server = createServer(async (_request, response) => {
  const client = await pool.connect();
  await client.query({ ...query, values: [id] });
  client.release();
  response.writeHead(200, { "content-type": "image/webp", "content-length": bytes.length });
  response.end(bytes);
});
server.listen(0, () => {
  const address = server.address();
  if (address && typeof address === "object") console.info(`Ready: http://localhost:${address.port}`);
});
