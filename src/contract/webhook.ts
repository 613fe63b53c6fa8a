/**
 * The definition of a webhook, for the code generator and the workers, and what `defineApi` registers.
 * Next hop: `src/webhooks/webhook.ts` makes it, `src/webhooks/webhooks-sql.ts` writes its SQL.
 */
import { DefinitionError } from "../kit/definition-error.ts";
import type { ProcedureDefinition } from "./procedure.ts";

export const webhookEvents = ["insert", "update", "delete"] as const;

/** What changes a row. */
export type WebhookEvent = (typeof webhookEvents)[number];

/** The definition of a webhook. Names of columns are those in the database. */
export interface WebhookDefinition {
  name: string;
  /** Schema and name, quoted. */
  table: string;
  /** The columns of its primary key. */
  key: readonly string[];
  /** The columns that leave. */
  columns: readonly string[];
  /** The same as a select list over `t`, in wire format under their wire names. */
  data: string;
  when: readonly WebhookEvent[];
  filter: Readonly<Record<string, string | null>>;
  /** The variable with the URL of the one receiver. */
  env?: string;
  /** The name of the internal procedure that is the receiver. */
  procedure?: string;
  /** The column with the owner of the row, and the table of the receivers. */
  owner?: string;
  endpoints?: {
    table: string;
    /** The column of its primary key. */
    key: string;
    owner: string;
    /** The column with the names of the webhooks that an endpoint gets. (Default: all) */
    events?: string;
  };
}

/** A webhook, to be registered under `webhooks` of `defineApi`. */
export interface Webhook {
  readonly "~svc": { readonly webhook: WebhookDefinition; readonly procedure?: ProcedureDefinition | undefined };
}

/** @throws DefinitionError for a value that is not a webhook, and for two webhooks with one name */
export function collectWebhooks(bag: Readonly<Record<string, unknown>>): Webhook["~svc"][] {
  const seen = new Set<string>();
  return Object.entries(bag).map(([key, value]) => {
    const its = (value as Webhook | undefined)?.["~svc"];
    const definition = its?.webhook;
    if (!definition) {
      throw new DefinitionError(`webhooks.${key} is not a webhook.`, { hint: "Make it with webhook({ … })." });
    }
    if (seen.has(definition.name)) {
      throw new DefinitionError(`Two webhooks are named "${definition.name}"; the second is webhooks.${key}.`, {
        hint: "Give one of them another name: receivers and the database know a webhook by its name.",
      });
    }
    seen.add(definition.name);
    return its;
  });
}
