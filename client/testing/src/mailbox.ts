/** Stores the application's authentication mails instead of sending them. */
import { type AuthDefinition, type AuthMail, replaceInvitationMailer } from "@svc/core/internal";

export interface Mail extends AuthMail {
  kind: "verification" | "reset" | "invitation";
}

/** In milliseconds: mails are sent shortly after the answer. */
const patience = 5_000;

interface Waiting {
  fits: (mail: Mail) => boolean;
  give: (mail: Mail) => void;
}

export class Mailbox {
  /** All mails in order, with the links that the application's mailer would get. */
  readonly mails: Mail[] = [];
  readonly #read = new Set<Mail>();
  #waiting: Waiting[] = [];

  /**
   * The next unread mail of a kind to an address; waits for one that is on its way.
   *
   * @throws Error when none arrives within five seconds
   */
  async next(kind: Mail["kind"], email: string): Promise<Mail> {
    const fits = (mail: Mail) => mail.kind === kind && mail.email === email && !this.#read.has(mail);
    const mail = this.mails.find(fits) ?? (await this.#wait(fits, `No ${kind} mail has come for ${email}.`));
    this.#read.add(mail);
    return mail;
  }

  /** The application's definition with this in place of its mailers. That of invitations is replaced in the process. */
  replaceMailers(definition: AuthDefinition): AuthDefinition {
    const put = (kind: Mail["kind"]) => (mail: AuthMail) => this.#put({ ...mail, kind });
    replaceInvitationMailer(definition, put("invitation"));
    return {
      ...definition,
      emailAndPassword: { ...definition.emailAndPassword, sendResetPassword: put("reset") },
      emailVerification: { ...definition.emailVerification, sendVerificationEmail: put("verification") },
    };
  }

  #wait(fits: Waiting["fits"], failure: string): Promise<Mail> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        fits,
        give: (mail) => {
          clearTimeout(timer);
          resolve(mail);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(new Error(failure));
      }, patience);
      this.#waiting.push(waiting);
    });
  }

  #put(mail: Mail): void {
    this.mails.push(mail);
    const first = this.#waiting.find(({ fits }) => fits(mail));
    this.#waiting = this.#waiting.filter((one) => one !== first);
    first?.give(mail);
  }
}
