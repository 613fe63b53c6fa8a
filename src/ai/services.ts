/** What the AI module needs from a process. Next hop: `create-ai.ts` uses it, `provider.ts` defines a provider. */
import type pg from "pg";
import type { EffectiveConfig } from "../config/config.ts";
import { requirePackages } from "../kit/optional-packages.ts";
import { type Credits, createCredits } from "./credits.ts";
import { localProvider } from "./local.ts";
import { openAiCompatible } from "./openai-compatible.ts";
import type { Provider } from "./provider.ts";

export interface AiServices {
  config: EffectiveConfig["ai"];
  credits: Credits;
  /** The provider of a model. @throws SvcError AI_NOT_CONFIGURED for a remote model without a provider */
  providerOf(model: string): Provider;
}

export function createAiServices(config: EffectiveConfig["ai"], pool: pg.Pool): AiServices {
  if (config.baseUrl) requirePackages("ai");
  const local = localProvider();
  const remote = openAiCompatible(config);
  const providerOf = (model: string) => (model.startsWith("local-") ? local : remote);
  return { config, credits: createCredits(pool, config), providerOf };
}
