/**
 * Authentication in a process of its own. Arguments: the databases' URLs as JSON, and what defineAuth takes, if anything. Says
 * where it listens; ends with its input.
 */
import { startAuthServer } from "./auth-server.ts";
import type { Database, Login } from "./database.ts";

const urls = JSON.parse(process.argv[2] ?? "{}") as Record<Login, string>;
const server = await startAuthServer({ url: (login: Login) => urls[login] } as Database, {
  definition: JSON.parse(process.argv[3] ?? "{}"),
});
console.info(server.url);
process.stdin.resume().on("end", () => void server.close());
