/**
 * The peer: PostGraphile 5 on the same database, with the same login, role and policies. It takes the user from a header
 * without checking anything, where the others verify a token: that favours it. Usage:
 * node bench/peers/postgraphile.ts DATABASE_URL
 */
import { createServer } from "node:http";
import { postgraphile } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafserv } from "postgraphile/grafserv/node";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";

const [connectionString = ""] = process.argv.slice(2);

const service = postgraphile({
  extends: [PostGraphileAmberPreset],
  // Else it offers neither conditions nor orders on columns without an index of their own.
  disablePlugins: ["PgIndexBehaviorsPlugin"],
  pgServices: [makePgService({ connectionString, schemas: ["public"], poolConfig: { max: 10 } })],
  grafast: {
    explain: false,
    context: ({ node }) => ({
      pgSettings: { "svc.user_id": String(node?.req.headers["x-user"]), role: "svc_authenticated" },
    }),
  },
  grafserv: { watch: false, graphiql: false },
});

const server = createServer();
await service.createServ(grafserv).addTo(server);
server.listen(0, () => {
  const address = server.address();
  if (address && typeof address === "object") console.info(`Ready: http://localhost:${address.port}`);
});
