/**
 * Checks the page that brings the answer of a SAML provider. The plugin `sso` does not know which browser began the sign-in, since a
 * form from a foreign page brings no cookies. So only the provider's own page may bring it: any other one could sign a user in to
 * an account of its own. The page needs no place in `frontendOrigins`, and may not call the API.
 * Called by `../routes/plugins.ts`.
 */
import type { Request } from "express";
import { isStorableText } from "../../kit/storable-text.ts";
import { SvcError } from "../../kit/svc-error.ts";
import type { Library } from "../library-types.ts";

/** Paths of endpoints to which the page of a provider sends a form. */
export const ofSaml = /^\/sso\/saml2\/sp\/(?:acs|slo)\/:providerId$/;

/** The known properties of a provider's `samlConfig`. */
interface SamlConfig {
  entryPoint?: string;
  idpMetadata?: { singleSignOnService?: { Location?: string }[] };
}

/** @throws SvcError FORBIDDEN for another page than the provider's */
export async function requireProvidersPage(
  { library: { context } }: { library: Pick<Library, "context"> },
  { headers: { origin }, params }: Request,
): Promise<void> {
  const config = await configOf(context, String(params.providerId));
  const urls = [config.entryPoint, ...(config.idpMetadata?.singleSignOnService ?? []).map((one) => one.Location)];
  if (urls.some((url) => url && URL.canParse(url) && new URL(url).origin === origin)) return;
  throw new SvcError("FORBIDDEN", `The origin ${origin} is not that of the SAML provider.`, {
    hint: "It is the origin of samlConfig.entryPoint, or of a Location in idpMetadata.singleSignOnService.",
  });
}

/** As the plugin finds it: what `auth.ts` names goes before what users have registered. */
async function configOf({ adapter, getPlugin }: Library["context"], providerId: string): Promise<SamlConfig> {
  const { options } = Object(getPlugin("sso")) as { options?: { defaultSSO?: Named[] } };
  const named = options?.defaultSSO?.find((one) => one.providerId === providerId);
  if (named) return named.samlConfig ?? {};
  if (!isStorableText(providerId)) return {};
  const where = [{ field: "providerId", value: providerId }];
  const stored = await adapter.findOne<{ samlConfig?: string | null }>({ model: "ssoProvider", where });
  return Object(JSON.parse(stored?.samlConfig || "{}"));
}

interface Named {
  providerId: string;
  samlConfig?: SamlConfig;
}
