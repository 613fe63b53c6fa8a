/** A mailer that stores mails in a mailbox. */
import type { AuthDefinition, AuthMail } from "../../src/contract/auth.ts";
import type { AuthServer } from "./auth-server.ts";

export interface Mail extends AuthMail {
  kind: "verification" | "reset";
}

export class Mailbox {
  /** All received mails, in order. */
  readonly mails: Mail[] = [];
  readonly #waiting: { fits: (mail: Mail) => boolean; give: (mail: Mail) => void }[] = [];
  readonly #read = new Set<Mail>();

  /** For `defineAuth`. */
  readonly definition = {
    emailAndPassword: { sendResetPassword: async (mail) => this.#put({ ...mail, kind: "reset" }) },
    emailVerification: { sendVerificationEmail: async (mail) => this.#put({ ...mail, kind: "verification" }) },
  } satisfies AuthDefinition;

  /** The next unread mail of a kind to an address; waits for one that is on its way. */
  async next(kind: Mail["kind"], email: string): Promise<Mail> {
    const fits = (mail: Mail) => mail.kind === kind && mail.email === email && !this.#read.has(mail);
    const mail = this.mails.find(fits) ?? (await new Promise<Mail>((give) => this.#waiting.push({ fits, give })));
    this.#read.add(mail);
    return mail;
  }

  #put(mail: Mail): void {
    this.mails.push(mail);
    const index = this.#waiting.findIndex(({ fits }) => fits(mail));
    if (index >= 0) this.#waiting.splice(index, 1)[0]?.give(mail);
  }
}

export const tokenOf = ({ url }: Pick<AuthMail, "url">): string => new URL(url).searchParams.get("token") ?? "";

/** Opens a link of the service, without following its redirect. */
export async function visit(server: AuthServer, link: string, method = "GET") {
  const { pathname, search } = new URL(link);
  const response = await fetch(server.url + pathname + search, { method, redirect: "manual" });
  return { status: response.status, location: response.headers.get("location"), text: await response.text(), response };
}
