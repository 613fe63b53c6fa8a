/** A circle, if one operation of `api` needed the types of all. */
import type { SvcClient } from "../../../client/sdk/src/index.ts";
import { api } from "./api.ts";

declare const client: SvcClient;

export const shown = client.query(api.stones.count);

export const run = client.query(api.workflows.get, { id: "" });
