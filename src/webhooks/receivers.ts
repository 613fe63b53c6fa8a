/** The receivers that the operator names in the environment. Their URLs and secrets are in the configuration alone. */
import type { EffectiveConfig } from "../config/config.ts";
import type { WebhookDefinition } from "../contract/webhook.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { readSecrets } from "./signature.ts";

/** What is missing in the environment for webhooks to leave, one sentence each. */
export function missingReceivers(
  webhooks: readonly WebhookDefinition[],
  { variables }: EffectiveConfig["webhooks"],
): string[] {
  return webhooks.flatMap(({ name, env }) => {
    if (!env) return [];
    const url = variables[env] ?? "";
    const secret = variables[`${env}_SECRET`] ?? "";
    const problems = [
      ...(/^https?:/.test(url) && URL.canParse(url) ? [] : [`${env} is not ${url ? "a URL" : "set"}`]),
      ...(isSecret(secret) ? [] : [`${env}_SECRET is not ${secret ? "whsec_ and 24 to 64 bytes in base64" : "set"}`]),
    ];
    return problems.map((problem) => `The webhook "${name}" needs a receiver, but ${problem}.`);
  });
}

/** @throws DefinitionError in production, where a webhook would leave a receiver without what it waits for */
export function refuseMissingReceivers(webhooks: readonly WebhookDefinition[], config: EffectiveConfig): void {
  const [problem] = missingReceivers(webhooks, config.webhooks);
  if (problem && config.production) throw new DefinitionError(problem, { hint: remedy });
}

export const remedy =
  "Set the URL and the secret in the environment of each worker. For a new secret: echo whsec_$(openssl rand -base64 32)";

function isSecret(text: string): boolean {
  try {
    return readSecrets(text).length > 0;
  } catch {
    return false;
  }
}
