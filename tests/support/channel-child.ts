/** A service with the channels of the tests, in a process that a test kills. */
import { channels, procedures } from "../realtime/channel-application.ts";
import * as durable from "../realtime/durable-application.ts";
import { config, serve } from "./child.ts";
import { apiWith } from "./service.ts";

const [urls = "{}", secret = ""] = process.argv.slice(2);
// The same address for all processes, so that each takes the other's tokens.
const auth = { ...config.auth, url: "http://localhost" };
const api = apiWith({
  channels: { ...channels, ...durable.channels },
  procedures: { ...procedures, ...durable.procedures },
});
process.send?.({ url: await serve({ api, urls, secret }, { auth }) });
