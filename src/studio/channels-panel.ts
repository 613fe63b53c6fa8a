/**
 * Which channels are open, in each process of the service. Their members are in the memory of the processes alone, so all are asked
 * by the log that they read, and each that has sockets answers by a notification.
 * Next hop: `sql/studio/studio_ask_channels.sql`; `src/realtime/channel-report.ts` answers.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Notification } from "pg";
import { z } from "zod";
import { jsonIn } from "../kit/json-in.ts";
import { acquire } from "../postgres/acquire.ts";
import { panel } from "./panel.ts";
import { explained } from "./view.ts";

/** In milliseconds: how long answers are awaited. How many processes there are, nobody knows. */
const patience = 1_000;

const count = z.int().min(0);
const report = z.object({
  process: z.string(),
  names: z.array(z.tuple([z.string(), count, count, count])),
  rooms: z.array(z.tuple([z.string(), count])),
  messages: z.array(z.tuple([z.number(), z.string(), z.string(), count])),
});

export const channelsPanel = panel(z.strictObject({}), async (_, { read }) => {
  const question = randomUUID();
  const heard: string[] = [];
  const { client, release } = await acquire(read);
  const hear = ({ payload = "" }: Notification) => void heard.push(payload);
  client.on("notification", hear);
  try {
    await client.query(`listen "svc_studio_${question}"`);
    await client.query("select svc_private.studio_ask_channels($1)", [question]);
    await sleep(patience);
    await client.query("unlisten *");
    release();
  } catch (error) {
    release(true);
    throw explained(error);
  } finally {
    client.off("notification", hear);
  }
  const reports = heard.flatMap((text) => report.safeParse(jsonIn(text)).data ?? []);
  return { processes: reports.sort((a, b) => a.process.localeCompare(b.process)) };
});
