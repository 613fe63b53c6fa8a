/** A better-auth plugin: a key of `@better-auth/api-key` no longer stands for its user while the user is banned. */
import type { BetterAuthPlugin } from "better-auth";
import { APIError, createAuthMiddleware } from "better-auth/api";

/** Columns of the `admin` plugin. */
interface Bannable {
  banned?: boolean | null;
  banExpires?: Date | string | null;
}

const isBanned = ({ banned, banExpires }: Bannable): boolean =>
  banned === true && (!banExpires || new Date(banExpires) > new Date());

/**
 * The `admin` plugin refuses new sessions of a banned user and ends the others, but a key needs none. List it behind the
 * plugins: before the endpoint, only their hooks set a session.
 */
export const banRules: BetterAuthPlugin = {
  id: "svc-bans",
  hooks: {
    before: [
      {
        matcher: () => true,
        handler: createAuthMiddleware(async ({ context }) => {
          if (!context.session || !isBanned(context.session.user as Bannable)) return;
          throw APIError.from("FORBIDDEN", { code: "BANNED_USER", message: "This user is banned." });
        }),
      },
    ],
  },
};
