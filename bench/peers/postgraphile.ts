/**
 * The peer: PostGraphile 5 on the same database, with the same guarantees: a verified JWT, identity and role for the
 * policies, a request id and one log line. Usage: node bench/peers/postgraphile.ts DATABASE_URL JWKS_URL ISSUER
 */
import { createServer } from "node:http";
import { postgraphile } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafserv } from "postgraphile/grafserv/node";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { verifier } from "./bearer.ts";
import { logLines } from "./log-lines.ts";

const [connectionString = "", jwksUrl = "", issuer = ""] = process.argv.slice(2);
const verify = verifier(jwksUrl, issuer);

const service = postgraphile({
  extends: [PostGraphileAmberPreset],
  // Else it offers neither conditions nor orders on columns without an index of their own.
  disablePlugins: ["PgIndexBehaviorsPlugin"],
  pgServices: [makePgService({ connectionString, schemas: ["public"], poolConfig: { max: 10 } })],
  grafast: {
    explain: false,
    context: async ({ node }) => {
      const userId = await verify(node?.req.headers.authorization);
      if (!userId) throw new Error("unauthorized");
      return { pgSettings: { "svc.user_id": userId, role: "svc_authenticated" } };
    },
  },
  grafserv: { watch: false, graphiql: false },
});

const server = createServer();
logLines(server);
await service.createServ(grafserv).addTo(server);
server.listen(0, () => {
  const address = server.address();
  if (address && typeof address === "object") console.info(`Ready: http://localhost:${address.port}`);
});
