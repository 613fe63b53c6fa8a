/** Users and profiles. */
import { type Context, SvcError } from "@svc/core";
import { eq } from "drizzle-orm";
import { z } from "zod";
import { get, post, put, remove } from "./runtime.ts";
import { follows, profileCards, profiles } from "./schema.ts";

const credentials = z.object({ email: z.string(), password: z.string() });
const changes = credentials.extend({ username: z.string(), bio: z.string().nullable(), image: z.string().nullable() });
const tokenOf = (authorization = "") => authorization.slice("Token ".length);

/** A user in Conduit's form. */
async function shown({ db }: Context, { id, email }: { id: string; email: string }, token: string) {
  const [profile] = await db.select().from(profiles).where(eq(profiles.userId, id));
  const { userId, ...shared } = profile ?? {};
  return { user: { email, token, ...shared } };
}

export const signUp = post
  .path("/api/users")
  .allowAnonymous()
  .input(z.object({ user: credentials.extend({ username: z.string() }) }))
  .handler(
    async ({
      context,
      input: {
        user: { username, ...account },
      },
    }) => {
      if (await context.db.$count(profiles, eq(profiles.username, username))) {
        throw new SvcError("CONFLICT", "", { issues: [{ path: ["username"], message: "has already been taken" }] });
      }
      const { user, sessionToken } = await context.auth.signUp({ ...account, name: username });
      return { status: 201, body: await shown(context, user, sessionToken) };
    },
  );

export const signIn = post
  .path("/api/users/login")
  .allowAnonymous()
  .input(z.object({ user: credentials }))
  .handler(async ({ context, input }) => {
    const { user, sessionToken } = await context.auth.signIn(input.user);
    return { body: await shown(context, user, sessionToken) };
  });

export const me = get.path("/api/user").handler(async ({ context, request }) => ({
  body: await shown(context, context.auth.requireAuth().user, tokenOf(request.headers.authorization)),
}));

export const updateMe = put
  .path("/api/user")
  .input(z.object({ user: changes.partial() }))
  .handler(async ({ context, input, request }) => {
    const { email, password, username, ...rest } = input.user;
    const { user } = context.auth.requireAuth();
    if (email !== undefined) await context.auth.changeEmail(email);
    if (password !== undefined) await context.auth.setPassword(password);
    await context.auth.updateUser({ ...rest, ...(username !== undefined && { name: username }) });
    const changed = { id: user.id, email: email ?? user.email };
    return { body: await shown(context, changed, tokenOf(request.headers.authorization)) };
  });

async function find({ db }: Context, username: string) {
  const [card] = await db.select().from(profileCards).where(eq(profileCards.username, username));
  if (!card) throw new SvcError("NOT_FOUND");
  return card;
}

const answer = async (context: Context, username: string) => ({
  body: { profile: (await find(context, username)).profile },
});

const path = "/api/profiles/:username";

export const profile = get
  .path(path)
  .allowAnonymous()
  .handler(({ context, request }) => answer(context, request.params.username));

export const follow = post.path(`${path}/follow`).handler(async ({ context, request: { params } }) => {
  const { userId: followed } = await find(context, params.username);
  const { user } = context.auth.requireAuth();
  await context.db.insert(follows).values({ userId: user.id, followed }).onConflictDoNothing();
  return answer(context, params.username);
});

export const unfollow = remove.path(`${path}/follow`).handler(async ({ context, request: { params } }) => {
  const { userId } = await find(context, params.username);
  await context.db.delete(follows).where(eq(follows.followed, userId)); // the policy: only rows of the caller
  return answer(context, params.username);
});
