/** Users and profiles. */
import { type Context, requireRow, type SignedIn, SvcError, type SvcRequest } from "@svc/core";
import { eq } from "drizzle-orm";
import { z } from "zod";
import { get, post, put, read, remove } from "./runtime.ts";
import { card, follows, profiles } from "./schema.ts";

const credentials = z.object({ email: z.string(), password: z.string() });
const about = z.object({ username: z.string(), bio: z.string().nullable(), image: z.string().nullable() });
const tokenOf = ({ headers }: SvcRequest) => headers.authorization?.slice("Token ".length) ?? "";

/** A user in Conduit's form. */
async function shown({ db }: Context, { user, sessionToken: token }: Pick<SignedIn, "user" | "sessionToken">) {
  const { username, bio, image } = profiles;
  const [profile] = await db.select({ username, bio, image }).from(profiles).where(eq(profiles.userId, user.id));
  return { body: { user: { email: user.email, token, ...profile } } };
}

const enter = post.allowAnonymous();

export const signUp = enter
  .path("/api/users")
  .input(z.object({ user: credentials.extend({ username: z.string() }) }))
  .handler(async ({ context, input }) => {
    const { username: name, ...account } = input.user;
    if (await context.db.$count(profiles, eq(profiles.username, name))) {
      throw new SvcError("CONFLICT", "", { issues: [{ path: ["username"], message: "has already been taken" }] });
    }
    return { status: 201, ...(await shown(context, await context.auth.signUp({ ...account, name }))) };
  });

export const signIn = enter
  .path("/api/users/login")
  .input(z.object({ user: credentials }))
  .handler(async ({ context, input }) => shown(context, await context.auth.signIn(input.user)));

export const me = get.path("/api/user").handler(({ context, request }) => {
  return shown(context, { user: context.auth.requireAuth().user, sessionToken: tokenOf(request) });
});

export const updateMe = put
  .path("/api/user")
  .input(z.object({ user: credentials.extend(about.shape).partial() }))
  .handler(async ({ context, input, request }) => {
    const { email, password, ...profile } = input.user;
    const { user } = context.auth.requireAuth();
    const own = eq(profiles.userId, user.id);
    if (Object.keys(profile).length > 0) await context.db.update(profiles).set(profile).where(own);
    if (email !== undefined) await context.auth.changeEmail(email);
    if (password !== undefined) await context.auth.setPassword(password);
    return shown(context, { user: { ...user, ...(email && { email }) }, sessionToken: tokenOf(request) });
  });

async function find({ db }: Context, name: string) {
  const { userId, username } = profiles;
  return requireRow(await db.select({ userId, profile: card }).from(profiles).where(eq(username, name)));
}

const answer = async (context: Context, name: string) => ({ body: { profile: (await find(context, name)).profile } });

const path = "/api/profiles/:username";

export const show = read.path(path).handler(({ context, request }) => answer(context, request.params.username));

export const follow = post.path(`${path}/follow`).handler(async ({ context, request: { params } }) => {
  const { userId: followed } = await find(context, params.username);
  await context.db.insert(follows).values({ followed }).onConflictDoNothing();
  return answer(context, params.username);
});

export const unfollow = remove.path(`${path}/follow`).handler(async ({ context, request: { params } }) => {
  const { userId } = await find(context, params.username);
  await context.db.delete(follows).where(eq(follows.followed, userId)); // the policy: only rows of the caller
  return answer(context, params.username);
});
