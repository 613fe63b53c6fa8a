/**
 * Checks the page and the browser that bring the answer of a SAML provider: otherwise another page, or an attacker's own answer,
 * could sign a user in to an account of the attacker. The plugin `sso` checks neither, since its cookie is not sent with a form
 * of a foreign page. The page needs no place in `frontendOrigins`, and may not call the API. Called by `../routes/plugins.ts`.
 */

import type { Request } from "express";
import { mediaType } from "../../http/body.ts";
import { jsonIn } from "../../kit/json-in.ts";
import { isJson } from "../../kit/media-type.ts";
import { isStorableText } from "../../kit/storable-text.ts";
import { SvcError } from "../../kit/svc-error.ts";
import type { Library } from "../library-types.ts";
import type { AuthParts } from "../routes/endpoint.ts";
import { cookieValue } from "../sessions/session-cookie.ts";

/** Paths of endpoints to which the page of a provider sends a form. */
export const ofSaml = /^\/sso\/saml2\/sp\/(?:acs|slo)\/:providerId$/;

/** The one that signs in. */
export const ofSamlAnswer = /^\/sso\/saml2\/sp\/acs\/:providerId$/;

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

/** The cookie that the plugin sets when a sign-in begins: the form's `RelayState`, and a signature. */
const relayCookie = ({ context }: Library) => context.createAuthCookie("relay_state").name;

/**
 * `Set-Cookie` of that cookie, so that browsers also send it with a form of the provider's page. They take `SameSite=None` from https
 * alone.
 */
export const forForms = (library: Library, line: string): string =>
  line.startsWith(`${relayCookie(library)}=`) && /; *secure/i.test(line)
    ? line.replace(/samesite=lax/i, "SameSite=None")
    : line;

/**
 * Whether the answer of a provider comes in the browser in which the sign-in began. On http nobody can tell. With
 * `saml.allowIdpInitiated` there is no such browser; with `storeStateStrategy: "cookie"` the plugin compares what the cookie holds.
 */
export function isOfBrowser({ library, origins }: AuthParts, request: Request, body: Buffer): boolean {
  const { options } = Object(library.context.getPlugin("sso")) as {
    options?: { saml?: { allowIdpInitiated?: boolean } };
  };
  if (options?.saml?.allowIdpInitiated || !origins.own.startsWith("https:")) return true;
  const state = relayStateIn(request, body);
  const kept = cookieValue(request.headers.cookie, relayCookie(library));
  if (!state || kept === null) return false;
  return library.context.oauthConfig.storeStateStrategy === "cookie" || kept.slice(0, kept.lastIndexOf(".")) === state;
}

/** As the plugin reads it. A form may have it twice, of which the last one counts there. */
function relayStateIn(request: Request, body: Buffer): unknown {
  if (!isJson(mediaType(request))) return new URLSearchParams(body.toString()).getAll("RelayState").at(-1);
  return Object(jsonIn(body.toString())).RelayState;
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
