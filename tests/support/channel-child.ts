/** A service with the channels of `tests/realtime/channel-application.ts`, in a process that a test kills. */
import { channels, procedures } from "../realtime/channel-application.ts";
import { config, serve } from "./child.ts";
import { apiWith } from "./service.ts";

const [urls = "{}", secret = ""] = process.argv.slice(2);
// The same address for all processes, so that each takes the other's tokens.
const auth = { ...config.auth, url: "http://localhost" };
process.send?.({ url: await serve({ api: apiWith({ channels, procedures }), urls, secret }, { auth }) });
