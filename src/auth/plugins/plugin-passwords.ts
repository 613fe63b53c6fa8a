/**
 * Passwords, codes and tokens that plugins' endpoints compare: to sign in with a user name, to bring a second factor, to
 * redeem a link. They are counted before they are compared, as those of our own endpoints are, and passwords are hashed in
 * the same queue. The plugins know nothing of either; where they count, they look before they have counted the requests
 * of the same moment.
 * Next hop: `plugin-accounts.ts` tells whose they may be, `../attempts.ts` counts.
 */
import type { Request as HttpRequest } from "express";
import { SvcError } from "../../kit/svc-error.ts";
import { type AuthParts, about } from "../routes/endpoint.ts";
import type { Credential } from "./credential.ts";
import { accountsOf, type Given } from "./plugin-accounts.ts";

/** Keys of passwords. */
const password = /pass/i;

/** Keys of values that somebody could guess. Rather too many: a value counts only when the endpoint refuses it. */
const secret =
  /pass|otp|code|token|secret|key|pin$|answer|signature|proof|assert|phrase|credential|hash|nonce|challenge|verif/i;

/**
 * @param inner the request as the plugin gets it
 * @param answer has the plugin answer it
 * @throws SvcError RATE_LIMITED without asking the plugin; UNAVAILABLE when too many passwords wait to be hashed
 */
export async function countingGuesses(
  parts: AuthParts,
  request: HttpRequest,
  inner: Request,
  credential: Credential | null,
  answer: () => Promise<Response>,
): Promise<Response> {
  const given = await givenIn(request, inner);
  const guesses = given.filter(({ key }) => secret.test(key));
  if (guesses.length === 0) return answer();
  const hashes = guesses.some(({ key }) => password.test(key));
  const hasCode = guesses.some(({ key }) => !password.test(key));
  let answered: Response | undefined;
  const check = async () => {
    answered = await answer();
    if (await isRefusal(answered, hasCode)) throw new SvcError("INVALID_CREDENTIALS");
    return answered;
  };
  const { attempts, gate } = parts;
  const from = about(request);
  try {
    const accounts = await accountsOf(parts, inner, given, credential);
    // A token of its own names nobody: it is counted as the links in our mails are.
    if (accounts.names.length === 0 && !hashes) return await attempts.redeem(from, check);
    const compare = hashes ? () => gate.run(check) : check;
    return await attempts.guess(accounts.names, from, compare, { hashes, counted: accounts.hashes });
  } catch (error) {
    if (answered) return answered;
    throw error;
  }
}

/**
 * All that was given, read by the parsers that the library uses: what these two do not know, no endpoint gets as values.
 * A body that is neither is one value, and may be guessed.
 */
async function givenIn({ params }: HttpRequest, inner: Request): Promise<Given[]> {
  const given: Given[] = Object.entries(params).map(([key, value]) => ({ key, value }));
  for (const [key, value] of new URL(inner.url).searchParams) given.push({ key, value });
  if (!inner.body) return given;
  const body: unknown = await inner
    .clone()
    .json()
    .catch(async () => [...(await inner.clone().formData())].map(([key, value]) => ({ [key]: value })))
    .catch(() => ({ code: true }));
  return [...given, ...valuesIn("", body)];
}

/** Values of objects and lists under the key that is nearest to them. Bodies are small: 16 KiB. */
function valuesIn(key: string, value: unknown): Given[] {
  const found: Given[] = [];
  const rest: Given[] = [{ key, value }];
  for (let next = rest.pop(); next; next = rest.pop()) {
    if (typeof next.value !== "object" || next.value === null) found.push(next);
    else if (Array.isArray(next.value)) for (const one of next.value) rest.push({ key: next.key, value: one });
    else for (const [inside, one] of Object.entries(next.value)) rest.push({ key: inside, value: one });
  }
  return found;
}

/** Says that the value was not the wrong one: it was never compared, or was right and does not suffice. */
const notWrong = /^(?:VALIDATION_ERROR|EMAIL_NOT_VERIFIED|BANNED_USER|authorization_pending|slow_down)$/;

/**
 * Whether an answer may have been that to a wrong guess. In doubt it is: the library's plugins have many words for it.
 *
 * @param hasCode whether there is something beside a password; wrong passwords are noticed where they are compared
 */
async function isRefusal(answer: Response, hasCode: boolean): Promise<boolean> {
  if (answer.status === 302)
    return new URL(answer.headers.get("location") ?? "/", "http://_").searchParams.has("error");
  if (answer.status < 400 || answer.status > 499 || answer.status === 429) return false;
  const said: unknown = await answer
    .clone()
    .json()
    .catch(() => null);
  const { code, error } = Object(said) as { code?: unknown; error?: unknown };
  if (notWrong.test(String(code)) || notWrong.test(String(error))) return false;
  return hasCode || answer.status === 401 || /PASSWORD|CREDENTIAL/.test(String(code));
}
