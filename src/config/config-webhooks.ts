/** The settings of webhooks: `webhooks` of `svc.config.ts`, and the receivers in the environment. */
import { z } from "zod";
import { boolean } from "../kit/options.ts";
import { whole } from "./config-rules.ts";

export const webhooksSection = z
  .strictObject({
    /** Longest wait for the answer of a receiver, in milliseconds. (Default: 10000) */
    timeoutMs: whole(100, 30_000, "milliseconds", 10_000).default(10_000),
    /** Whether endpoints of users may have private addresses and http://, for development. (Default: false) */
    privateEndpoints: boolean().default(false),
  })
  .prefault({});

export type WebhookSettings = z.output<typeof webhooksSection> & {
  /** The variables …HOOK and …HOOK_SECRET, unchanged: `webhook()` names those of receivers. */
  variables: Record<string, string>;
};
