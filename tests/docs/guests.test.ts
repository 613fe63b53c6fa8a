// If this file fails, guests as in docs/how-to/guests.md cannot join, or may do what needs an account.
import { createAuthClient } from "@svc/client";
import { expect, test, vi } from "vitest";
import { documented } from "./documented.ts";

const { db, folder, person, call, post, url, lint, startWorker } = documented("docs/how-to/guests.md");

/** @returns the session token, as the page says a program gets it */
async function guest(): Promise<string> {
  const headers = { "content-type": "application/json", "svc-session": "token" };
  const response = await fetch(`${url()}/api/auth/sign-in/anonymous`, { method: "POST", headers, body: "{}" });
  expect(response.status).toBe(200);
  return (await response.json()).sessionToken;
}

const announced = (token: string) =>
  fetch(`${url()}/api/storage/uploads`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "tus-resumable": "1.0.0", "upload-length": "5" },
  });

test("a school of guests joins from one address, and each votes once, and asks nothing", async () => {
  const ann = await person("ann");
  const { body: poll } = await call("mutation", ann.token, "polls.create", { question: "Tea?" });
  const guests: string[] = [];
  for (let each = 0; each < 120; each++) guests.push(await guest());
  const [first = "", second = ""] = guests;
  const vote = async (token: string) =>
    (await call("mutation", token, "votes.create", { pollId: poll.json.id, nickname: "Kim", choice: 1 })).status;

  expect([await vote(first), await vote(first), await vote(second)]).toEqual([200, 409, 200]);
  expect((await call("query", first, "votes.list")).body.json.total).toBe(1);
  expect((await call("mutation", first, "polls.create", { question: "Mine?" })).status).toBe(403);
  expect((await call("query", first, "people.who")).body.json.isGuest).toBe(true);
  expect((await call("query", ann.token, "people.who")).body.json.isGuest).toBe(false);
  expect([(await announced(first)).status, (await announced(ann.token)).status]).toEqual([403, 201]);
});

test("nobody is a guest or an account by saying so", async () => {
  const body = { email: "bob@example.com", password: "correct horse", name: "Bob", isAnonymous: true };
  const bob = (await post("/api/auth/sign-up", body)).body;
  expect((await call("query", bob.token, "people.who")).body.json.isGuest).toBe(false);
});

test("a guest who signs up on the page is another user, and the guest stays", async () => {
  const token = await guest();
  const before = (await call("query", token, "people.who")).body.json;
  const cookie = `authlib.session_token=${encodeURIComponent(token)}`;
  const signUp = await fetch(`${url()}/api/auth/sign-up/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url(), cookie },
    body: JSON.stringify({ email: "cleo@example.com", password: "correct horse", name: "Cleo" }),
  });
  expect(signUp.status).toBe(200);
  expect((await signUp.json()).user.id).not.toBe(before.id);
  expect((await call("query", token, "people.who")).body.json).toEqual(before);
});

test("the page lets a guest in, once", async () => {
  const send = globalThis.fetch;
  const here: typeof fetch = (to, init) => send(String(to).replace("http://localhost:4000", url()), init);
  vi.stubGlobal("fetch", here);
  try {
    const { auth, enter } = await import(`${folder}/web/enter.ts`);
    await enter();
    const { user } = auth.getState();
    expect(user.name).toBe("Anonymous");
    await enter();
    expect(auth.getState().user).toEqual(user);
  } finally {
    vi.unstubAllGlobals();
  }
});

test("a guest who signs in by a code takes the votes along, but none where the account has voted", async () => {
  const fay = await person("fay");
  const [tea, milk] = await Promise.all(
    ["Tea?", "Milk?"].map(async (question) => (await call("mutation", fay.token, "polls.create", { question })).body),
  );
  const vote = (token: string, poll: { json: { id: number } }, choice: number) =>
    call("mutation", token, "votes.create", { pollId: poll.json.id, nickname: "Kim", choice });
  const auth = createAuthClient(url(), { sessionTokenStorage: "memory" });
  await auth.call("/sign-in/anonymous");
  const { user: left, token } = auth.getState();
  await vote(token as string, tea, 1);
  await vote(token as string, milk, 1);
  await vote(fay.token, milk, 2);

  const { email } = fay.user;
  const mail = vi.spyOn(console, "log").mockImplementation(() => {}); // as the page sends it
  await auth.call("/email-otp/send-verification-otp", { email, type: "sign-in" });
  const otp = mail.mock.calls.find(([to]) => to === email)?.[1];
  mail.mockRestore();
  expect(JSON.stringify(await db.sql("select value from auth.verification"))).not.toContain(otp);
  await auth.call("/sign-in/email-otp", { email, otp });

  expect(auth.getState().user?.id).toBe(fay.user.id);
  const votes = await db.sql("select poll_id, choice from votes where user_id = $1 order by choice", [fay.user.id]);
  expect(votes).toEqual([
    { poll_id: tea.json.id, choice: 1 },
    { poll_id: milk.json.id, choice: 2 },
  ]);
  expect(await db.sql('select 1 from auth."user" where id = $1', [left?.id])).toEqual([]);
});

test("guests of last month are removed with their votes, and accounts stay", async () => {
  const dan = await person("dan");
  const { body: poll } = await call("mutation", dan.token, "polls.create", { question: "Milk?" });
  const [old, young] = [await guest(), await guest()];
  const who = async (token: string) => (await call("query", token, "people.who")).body.json?.id;
  const ids = [await who(old), await who(young)];
  for (const token of [dan.token, old, young]) {
    await call("mutation", token, "votes.create", { pollId: poll.json.id, nickname: "Kim", choice: 1 });
  }
  await db.sql(`update auth."user" set created_at = now() - interval '31 days' where id = any ($1)`, [
    [ids[0], dan.user.id],
  ]);
  await startWorker();
  await db.sql("select svc_private.enqueue_system_job('people.removeGuests', null, null, null, 'cron:guests')");
  const voters = async () => (await db.sql("select user_id from votes where poll_id = $1", [poll.json.id])).length;
  await expect.poll(voters, { timeout: 30_000 }).toBe(2);
  expect([await who(old), await who(young), await who(dan.token)]).toEqual([undefined, ids[1], undefined]);
});

test("the linter has nothing against it", async () => {
  expect(await lint()).toEqual([]);
});
