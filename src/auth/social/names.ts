/** How the providers of social sign-in are called: in paths and accounts, in messages, in the environment. */
import { type AuthDefinition, knownProviders } from "../../contract/auth.ts";

const labels: Readonly<Record<string, string>> = {
  google: "Google",
  github: "GitHub",
  microsoft: "Microsoft",
  apple: "Apple",
};

/** A provider's name in messages. */
export const labelOf = (id: string): string => labels[id] ?? id;

/** The ids of the providers that an application has: Google, and those that `auth.ts` names. */
export const providersOf = ({ social }: AuthDefinition): string[] => [
  ...knownProviders.filter((id) => id === "google" || social?.[id]),
  ...Object.keys(social?.oidc ?? {}),
];

/** The names of a provider's variables: its client, the client's secret, and, for tests, another issuer. */
export function variablesOf(id: string): [client: string, secret: string, issuer: string] {
  const name = id.toUpperCase().replaceAll("-", "_");
  return [`${name}_CLIENT_ID`, `${name}_CLIENT_SECRET`, `${name}_ISSUER`];
}
