/**
 * The service in a separate process, for tests that kill it and measure its memory. Arguments: the databases' URLs as
 * JSON, the folder of the bytes, the secret. Reports its address over the channel.
 */
import { defineApi } from "../../src/app/api.ts";
import { crud } from "../fixture/backend/index.ts";
import { serve } from "./child.ts";

const [urls = "{}", dir = "", secret = ""] = process.argv.slice(2);
const api = defineApi({ procedures: crud });
process.send?.(await serve({ api, urls, secret }, { storage: { driver: "disk", dir } }));
