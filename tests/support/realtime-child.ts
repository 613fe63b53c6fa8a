/**
 * The fixture's service in a separate process, for tests that kill it; with "live" as its last argument, with the queries
 * of `tests/realtime/live-application.ts`. Says its address over the channel.
 */
import { defineApi } from "../../src/app/api.ts";
import { crud } from "../fixture/backend/index.ts";
import * as live from "../realtime/live-application.ts";
import { config, serve } from "./child.ts";
import { raisedLimits } from "./limits.ts";

const [urls = "{}", secret = "", port = "0", which] = process.argv.slice(2);
const app =
  which === "live"
    ? { api: defineApi({ procedures: { ...crud, ...live.procedures } }), schema: live.schema }
    : { api: defineApi({ procedures: crud }) };
// The same address for all processes, so that each takes the other's tokens.
const auth = { ...config.auth, url: "http://localhost" };
const url = await serve({ ...app, urls, secret }, { port: Number(port), limits: raisedLimits, auth });
process.send?.({ url });
