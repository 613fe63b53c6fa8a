/**
 * Handlers that use `ctx.db`, and a route, beside the same by hand: Fastify + postgres.js, and Express + Drizzle, which writes
 * the same statements.
 */
import { type Contest, contest, removeCreated, type User } from "./contest.ts";

export const run = (): Promise<void> =>
  contest(
    [
      ["fastify", "fastify.ts"],
      ["express + drizzle", "drizzle.ts"],
    ],
    measure,
  );

async function measure({ cluster, svc, peers, users, ours, theirs, compare, turn }: Contest) {
  const byId = ({ rows }: User) => ({ id: rows[turn() % rows.length] });
  await compare("get by a handler", [ours("/api/query", "itemById", byId), ...theirs("/get", byId)]);
  const all = () => ({});
  await compare("list of 20 by a handler", [ours("/api/query", "latestItems", all), ...theirs("/list", all)]);
  const title = () => ({ title: `new ${turn()}` });
  await compare("create by a handler", [ours("/api/mutation", "addItem", title), ...theirs("/create", title)]);
  await removeCreated(cluster.urls.admin);

  const headers = { authorization: `Bearer ${users[0]?.token}` };
  const routers = [{ name: "svc", process: svc }, ...peers];
  await compare(
    "a route without database",
    routers.map((one) => ({ ...one, path: "/hello/world", headers })),
  );
}
