/**
 * Creates users for trusted code, without a sign-up: for tests and seeds. The library's hooks run as usual.
 * Next hop: better-auth's internal adapter, through `library.ts`.
 */
import type { SeedUser } from "../contract/seed.ts";
import { inEndpoint } from "./endpoint-context.ts";
import type { Library } from "./library-types.ts";
import type { SessionTokens } from "./sessions/session-token.ts";

/** Input of `create`. */
interface NewUser extends SeedUser {
  name: string;
  /** Whether the address counts as verified. (Default: true) */
  emailVerified?: boolean | undefined;
}

export class UserAdmin {
  readonly #library: Library;
  readonly #sessionTokens: SessionTokens;

  constructor(library: Library, sessionTokens: SessionTokens) {
    this.#library = library;
    this.#sessionTokens = sessionTokens;
  }

  /** Creates a user. @returns the id @throws errors of the database or of a hook of the application */
  async create({ email, name, password, emailVerified = true, fields }: NewUser): Promise<string> {
    const { internalAdapter, password: passwords } = this.#library.context;
    const make = async (hash?: string) => {
      const row = { ...fields, email: email.toLowerCase(), name, emailVerified };
      const user = await internalAdapter.createUser(row, { method: "email" });
      if (!user) throw new Error(`A hook of the application refused the user ${email}.`);
      if (hash !== undefined) {
        await internalAdapter.linkAccount({
          userId: user.id,
          providerId: "credential",
          accountId: user.id,
          password: hash,
        });
      }
      return user.id;
    };
    return inEndpoint(this.#library, "", new Headers(), async () => {
      const hash = password === undefined ? undefined : await passwords.hash(password);
      return this.#library.transaction(() => make(hash));
    });
  }

  /** Opens a session. @returns the token in the form that clients hold @throws errors of the database or of a hook */
  async openSession(userId: string): Promise<string> {
    const session = await this.#library.context.internalAdapter.createSession(userId, false);
    if (!session) throw new Error("A hook of the application refused the session.");
    return this.#sessionTokens.sign(session.token);
  }
}
