/** A worker in a separate process, which sends the webhooks of definitions.ts and is killed. */
import { config, work } from "../support/child.ts";
import { api } from "./definitions.ts";

const [urls = "{}", secret = ""] = process.argv.slice(2);
const settings = { ...config, webhooks: { ...config.webhooks, privateEndpoints: true } };

await work({ api, urls, secret }, { config: settings });
