/**
 * Sends mails of authentication through the application's mailer. Always after the answer: callers must not notice how
 * long a mailer takes, or that it fails.
 * Next hop: `mail-links.ts` decides what is sent.
 */

import type { Logger } from "pino";
import type { AuthDefinition, AuthMail } from "../../contract/auth.ts";
import { inTime } from "../../kit/in-time.ts";
import { SvcError } from "../../kit/svc-error.ts";
import { Unredacted } from "../../telemetry/unredacted.ts";

export type MailKind = "verification" | "password reset";

export interface MailsOptions {
  definition: AuthDefinition;
  /** Outside production, a mail without a mailer is printed to the log. */
  production: boolean;
  log: Logger;
  /** Shows each mail to the author, while developing. (Default: nobody sees it) */
  show?: ShowMail | undefined;
  /** How long a mailer may take, in milliseconds. (Default: 10000) */
  timeout?: number;
}

/** The mail grants access like a password. */
export type ShowMail = (kind: MailKind, mail: AuthMail) => void;

type Mailer = (mail: AuthMail) => Promise<void> | void;

export class Mails {
  readonly #options: MailsOptions;
  readonly #waiting = new Map<NodeJS.Timeout, () => void>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: MailsOptions) {
    this.#options = options;
  }

  /** Whether the application defines a mailer of this kind. */
  hasMailer(kind: MailKind): boolean {
    return this.#given(kind) !== undefined;
  }

  /** Whether mails of this kind are sent or printed to the log. */
  canSend(kind: MailKind): boolean {
    return this.#mailer(kind) !== undefined;
  }

  /** @throws SvcError FORBIDDEN when mails of this kind cannot be sent */
  require(kind: MailKind): void {
    if (this.canSend(kind)) return;
    throw new SvcError("FORBIDDEN", `Mails for ${kind} are not set up.`, { hint: `Give ${names[kind]} in auth.ts.` });
  }

  /**
   * Builds and sends a mail later. Errors are only logged.
   *
   * @param make returns null when there is no recipient
   * @param delay in milliseconds (Default: 0)
   */
  later(kind: MailKind, make: () => Promise<AuthMail | null>, delay = 0): void {
    const start = () => {
      this.#waiting.delete(timer);
      const done = this.#send(kind, make).finally(() => this.#underWay.delete(done));
      this.#underWay.add(done);
    };
    const timer = setTimeout(start, delay);
    this.#waiting.set(timer, start);
  }

  /** Sends delayed mails at once, and waits for all mails. */
  async close(): Promise<void> {
    for (const [timer, start] of this.#waiting) {
      clearTimeout(timer);
      start();
    }
    await Promise.all(this.#underWay);
  }

  async #send(kind: MailKind, make: () => Promise<AuthMail | null>): Promise<void> {
    const { log, timeout = 10_000 } = this.#options;
    const mailer = this.#mailer(kind);
    if (!mailer) return;
    let mail: AuthMail | null = null;
    try {
      mail = await make();
      if (!mail) return;
      this.#options.show?.(kind, mail);
      const sending = async (given: AuthMail) => {
        await mailer(given);
        return true;
      };
      if (await inTime(sending(mail), timeout)) log.info({ mail: kind }, "a mail was given to the mailer");
      else log.error({ mail: kind }, "the mailer did not finish in time; the mail may still be sent");
    } catch (error) {
      log.error({ mail: kind, reason: reasonOf(error, mail ? secretsOf(mail) : []) }, "a mail could not be sent");
    }
  }

  #given(kind: MailKind): Mailer | undefined {
    const { emailAndPassword, emailVerification } = this.#options.definition;
    return kind === "verification" ? emailVerification?.sendVerificationEmail : emailAndPassword?.sendResetPassword;
  }

  #mailer(kind: MailKind): Mailer | undefined {
    return this.#given(kind) ?? (this.#options.production ? undefined : this.#printer(kind));
  }

  /** Prints the whole link, token included, for development. */
  #printer(kind: MailKind): Mailer {
    return ({ email, url }) =>
      this.#options.log.info({ mail: kind, email, url: new Unredacted(url) }, "no mailer is set up; this is the mail");
  }
}

const names: Record<MailKind, string> = {
  verification: "emailVerification.sendVerificationEmail",
  "password reset": "emailAndPassword.sendResetPassword",
};

const secretsOf = ({ email, url }: AuthMail): string[] => [email, url, new URL(url).searchParams.get("token") ?? ""];

/**
 * Removes mail content: mailers put the address, and sometimes the whole mail, into their errors.
 *
 * @param secrets what was handed to the mailer, also spelled with separators: a code as `123 456` (Default: none)
 */
export function reasonOf(error: unknown, secrets: readonly string[] = []): string {
  const { name, message, code } = (error ?? {}) as { name?: unknown; message?: unknown; code?: unknown };
  const said = [name, code, message].filter((part) => typeof part === "string" || typeof part === "number").join(": ");
  return without(said, secrets)
    .replace(/https?:\S+/gi, "[link]")
    .replace(/[^\s<>"']+@[^\s<>"']+/g, "[address]")
    .replace(/[A-Za-z0-9_-]{30,}/g, "[token]")
    .slice(0, 300);
}

function without(text: string, secrets: readonly string[]): string {
  let left = text;
  // The longer first: a link contains its token.
  for (const secret of [...secrets].sort((one, other) => other.length - one.length)) {
    const spelled = secret.match(/[\p{L}\p{N}]/gu)?.join("[^\\p{L}\\p{N}]{0,3}");
    if (spelled) left = left.replace(new RegExp(spelled, "giu"), "[secret]");
  }
  return left;
}
