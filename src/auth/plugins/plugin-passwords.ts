/**
 * Limits guesses at plugin endpoints: passwords, second factors, tokens of links; and the mails that they send. A guess
 * is counted before it is compared, as in our own endpoints, and passwords use the same hash queue. The plugins' own
 * limits do not suffice: they check before counting concurrent requests.
 * Next hop: `plugin-accounts.ts` tells whose they may be, `../passwords/attempts.ts` counts.
 */
import type { Request as HttpRequest } from "express";
import { mediaType } from "../../http/body.ts";
import { isJson } from "../../kit/media-type.ts";
import { isStorableText } from "../../kit/storable-text.ts";
import { SvcError } from "../../kit/svc-error.ts";
import type { Guess } from "../passwords/attempts.ts";
import { isTelephone, telephoneOf } from "../passwords/recipients.ts";
import { type AuthParts, about, isReading } from "../routes/endpoint.ts";
import { accountsOf, type Given, requireFewNames } from "./plugin-accounts.ts";
import type { Credential } from "./plugin-request.ts";
import type { PluginEndpoint } from "./plugins.ts";

/** Keys of passwords. */
const password = /pass/i;

/** Keys of values that could be guessed. The list is broad: a value counts only when the endpoint rejects it. */
const secret =
  /pass|otp|code|token|secret|key|pin$|answer|signature|proof|assert|phrase|credential|hash|nonce|challenge|verif/i;

/**
 * @param endpoint of the plugin
 * @param inner the request as the plugin gets it
 * @param answer calls the plugin
 * @throws SvcError RATE_LIMITED and BAD_REQUEST without calling the plugin; UNAVAILABLE when too many passwords wait to be hashed
 */
export async function countingGuesses(
  parts: AuthParts,
  { path, body }: Pick<PluginEndpoint, "path" | "body">,
  request: HttpRequest,
  inner: Request,
  credential: Credential | null,
  answer: () => Promise<Response>,
): Promise<Response> {
  const given = await givenIn(request, inner);
  requireStorable(given);
  const guesses = given.filter(({ key }) => secret.test(key));
  // A key that the endpoint does not read exempts no request. Some endpoints do not declare which keys they read.
  const { shape } = Object(body) as { shape?: object };
  const compares = guesses.some(({ key }) => !shape || Object.hasOwn(shape, key) || Object.hasOwn(request.params, key));
  if (!compares || sending.test(path)) await countMails(parts, path, request, inner, given, credential);
  if (guesses.length === 0) return answer();
  const hashes = guesses.some(({ key }) => password.test(key));
  const hasCode = guesses.some(({ key }) => !password.test(key));
  let answered: Response | undefined;
  const check = async (guess?: Guess) => {
    answered = await answer();
    if (!(await isRefusal(answered, hasCode))) return answered;
    // The plugin compares nothing for an unknown number: its time would tell who has an account.
    const isUnknown = path === "/sign-in/phone-number" && guess && guess.compared === undefined;
    if (isUnknown) await parts.library.context.password.hash("a password of nobody");
    throw new SvcError("INVALID_CREDENTIALS");
  };
  const { attempts, passwords } = parts;
  const from = about(request);
  try {
    const accounts = await accountsOf(parts, inner, given, credential);
    const sends = path === "/sign-in/phone-number" && accounts.unverified.length > 0 && requiresVerification(parts);
    if (sends) await parts.attempts.mail(accounts.unverified.map(telephoneOf), from, accounts.names);
    // A token that names no user is counted like the links in our mails.
    if (accounts.names.length === 0 && !hashes) return await attempts.redeem(from, () => check());
    const compare = hashes ? (guess: Guess) => passwords.hashQueue.run(() => check(guess)) : check;
    return await attempts.guess(accounts.names, from, compare, { hashes, counted: accounts.hashes });
  } catch (error) {
    if (answered) return answered;
    throw error;
  }
}

/** Paths of endpoints that send a mail, also where they declare a secret. Only requests for an address count. */
const sending = /send|magic|invit|forget|request/i;

/** Paths of endpoints that send a mail, or compare what was in one. */
const mailing = /send|magic|invit|forget|request|otp|verif/i;

/**
 * Counts the mails and text messages that a plugin may send. The recipients are the addresses and telephone numbers in the
 * request; for a code of the second factor, the user who is asked for it. The mails of a signed-in user, such as
 * invitations, are not limited by network. Text messages are: each of them costs.
 *
 * @throws SvcError RATE_LIMITED; BAD_REQUEST for too many recipients
 */
async function countMails(
  parts: AuthParts,
  path: string,
  request: HttpRequest,
  inner: Request,
  given: readonly Given[],
  credential: Credential | null,
): Promise<void> {
  if (isReading(request.method) || !mailing.test(path)) return;
  const named = given.flatMap(({ key, value }) => (typeof value === "string" ? recipient(key, value) : []));
  const isSecondFactor = path === "/two-factor/send-otp";
  requireFewNames(new Set(named).size);
  if (named.length === 0 && !isSecondFactor) return;
  const { names } = await accountsOf(parts, inner, given, credential);
  const recipients = isSecondFactor ? names : named;
  const isFree = credential?.live && !recipients.some(isTelephone);
  if (recipients.length > 0) await parts.attempts.mail(recipients, isFree ? null : about(request), names);
}

function recipient(key: string, value: string): string[] {
  if (/email$/i.test(key)) return [value.trim().toLowerCase()];
  return /phoneNumber$/i.test(key) ? [telephoneOf(value)] : [];
}

/** Whether a sign-in by a number that is not verified sends a code to it, before the password is compared. */
const requiresVerification = ({ library }: AuthParts): boolean =>
  Object(library.context.getPlugin("phone-number")?.options).requireVerification === true;

/** PostgreSQL cannot store NUL, and would store something else for half of a surrogate pair. */
function requireStorable(given: readonly Given[]): void {
  if (given.every(({ key, value }) => isStorableText(key) && (typeof value !== "string" || isStorableText(value))))
    return;
  throw new SvcError("BAD_REQUEST", "The request contains a character that cannot be stored.");
}

/**
 * All values of a request, read by the parsers that the library uses, by the same header: one text may be JSON and a form. A body
 * of another type is one value, and may be a guess.
 */
async function givenIn(request: HttpRequest, inner: Request): Promise<Given[]> {
  const given: Given[] = Object.entries(request.params).map(([key, value]) => ({ key, value }));
  for (const [key, value] of new URL(inner.url).searchParams) given.push({ key, value });
  if (!inner.body) return given;
  const read = inner.clone();
  const reading: Promise<unknown> = isJson(mediaType(request))
    ? read.json()
    : read.formData().then((form) => [...form].map(([key, value]) => ({ [key]: value })));
  const body = await reading.catch(() => ({ code: true }));
  return [...given, ...valuesIn(body)];
}

/** Values in objects and lists, with the nearest key. Bodies are small: 16 KiB. */
function valuesIn(body: unknown): Given[] {
  const found: Given[] = [];
  const rest: Given[] = [{ key: "", value: body }];
  for (let next = rest.pop(); next; next = rest.pop()) {
    if (typeof next.value !== "object" || next.value === null) found.push(next);
    else if (Array.isArray(next.value)) for (const one of next.value) rest.push({ key: next.key, value: one });
    else for (const [inside, one] of Object.entries(next.value)) rest.push({ key: inside, value: one });
  }
  return found;
}

/** The value was not wrong: it was never compared, or it was right and not sufficient. */
const notWrong = /^(?:VALIDATION_ERROR|EMAIL_NOT_VERIFIED|BANNED_USER|authorization_pending|slow_down)$/;

/**
 * Whether an answer may mean a wrong guess. If in doubt, yes: the library's plugins use many error codes.
 *
 * @param hasCode whether there is a secret besides a password; wrong passwords are detected where they are compared
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
