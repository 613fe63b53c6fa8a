// If this file fails, secrets are stored in the queue's table and in backups, or a job gets other arguments than were
// passed.
import { describe, expect, test } from "vitest";
import type { SvcError } from "../../src/index.ts";
import { jobArguments } from "../../src/jobs/job-arguments.ts";

const refusal = (args: unknown): SvcError => {
  try {
    jobArguments("tasks.remind", args);
  } catch (error) {
    return error as SvcError;
  }
  throw new Error("These arguments were taken.");
};

const circle: { self?: unknown } = {};
circle.self = circle;
const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
const part = (length: number) => "aB3dE5gH7jK9".repeat(20).slice(0, length);

describe("arguments that are refused, with their path", () => {
  test.for<[string, unknown, string]>([
    ["a function", { a: { b: [1, () => 1] } }, "args.a.b[1] is a function"],
    ["a symbol", { a: Symbol("x") }, "args.a is a symbol"],
    ["a bigint", { id: 1n }, "args.id is a bigint"],
    ["NaN", { x: Number.NaN }, "args.x is NaN"],
    ["a Date", { at: new Date(0) }, "args.at is a Date"],
    ["a Map", { m: new Map() }, "args.m is a Map"],
    ["a gap in a list", { list: [1, undefined] }, "args.list[1] is a undefined"],
    ["an object with toJSON", { x: { toJSON: () => "y" } }, "args.x is a Object"],
    ["a circle", { circle }, "args.circle.self contains itself"],
    ["too deep", deep(70), "is nested deeper than 64 levels"],
    ["NUL", { text: "a\0b" }, "args.text contains NUL"],
    [
      "half of a surrogate pair, by which no job could be listed",
      { text: "a\ud83d" },
      "args.text contains half of a surrogate pair",
    ],
    ["64 KiB and a byte", "x".repeat(65_535), "are 65537 bytes"],
    ["a JWT", { a: `eyJhbGciOiJFZERTQSJ9.${part(40)}.${part(80)}` }, "args.a looks like a JSON Web Token"],
    ["a JWT inside a text", { a: `use eyJhbGciOiJFZERTQSJ9.${part(40)}.${part(80)}!` }, "args.a looks like"],
    ["a signed session token", [`${part(32)}.${part(44)}=`], "args[0] looks like a session token"],
    ["a bare session token by its name", { sessionToken: part(32) }, "args.sessionToken has the name of a secret"],
    [
      "a password by its name",
      { user: { password: "correct-horse-battery" } },
      "args.user.password has the name of a secret",
    ],
    ["a short password", { newPassword: "12345678" }, "args.newPassword has the name of a secret"],
    ["a password with spaces", { passphrase: "correct horse" }, "args.passphrase has the name of a secret"],
    ["a bearer header", { h: `Bearer ${part(32)}` }, "args.h looks like an Authorization header"],
    ["an OpenAI key", { key: `sk-proj-${part(48)}` }, "args.key looks like a provider's key"],
    ["an Anthropic key", { key: `sk-ant-${part(48)}` }, "args.key looks like a provider's key"],
    ["a Stripe key", { key: `sk_live_${part(24)}` }, "args.key looks like a provider's key"],
    ["an AWS key", { key: "AKIAIOSFODNN7EXAMPLE" }, "args.key looks like a provider's key"],
    ["a GitHub token", { t: `ghp_${part(36)}` }, "args.t looks like a provider's key"],
    [
      "a grant URL",
      { url: `https://a.example/api/storage/1?grant=${part(40)}` },
      "args.url looks like a URL with a grant",
    ],
    ["a signed S3 URL", { url: `https://b.example/x?X-Amz-Signature=${part(64)}` }, "args.url looks like a signed URL"],
    ["an upload URL", { url: `/api/storage/uploads/1?token=${part(40)}` }, "args.url looks like a signed URL"],
    ["a reset link", { at: `https://a.example/reset?a=b&token=${part(40)}` }, "args.at looks like a signed URL"],
    ["a database URL", { db: "postgres://me@host/app" }, "args.db looks like a database URL"],
    ["a URL with a password", { db: "https://me:secret@host/" }, "args.db looks like a URL with a password"],
    ["a private key", { pem: "-----BEGIN EC PRIVATE KEY-----" }, "args.pem looks like a private key"],
    ["a raw prompt", { prompt: "Write a letter to my bank." }, "args.prompt looks like a raw prompt"],
    ["a conversation", { messages: [{ role: "user", content: "Hi" }] }, "args.messages looks like a raw prompt"],
    ["a secret as a key", { [`ghp_${part(36)}`]: 1 }, "looks like a provider's key"],
  ])("%s", ([, args, says]) => {
    const { code, status, message, issues, hint } = refusal(args);
    expect([code, status]).toEqual(["VALIDATION_FAILED", 400]);
    expect(message).toContain(says);
    expect(issues?.[0]?.path[0]).toBe("args");
    expect(hint).toMatch(/64 KiB/);
  });

  test("never with the secret itself", () => {
    const secret = `ghp_${part(36)}`;
    expect(JSON.stringify({ ...refusal({ a: secret }), message: refusal({ a: secret }).message })).not.toContain(
      secret,
    );
  });
});

describe("arguments that are kept", () => {
  test.for<[string, unknown]>([
    ["nothing inside", {}],
    ["all that JSON has", { a: null, b: true, c: -0.5, d: "text", e: [1, [2, {}]] }],
    ["ids of users, as long as session tokens", { userId: part(32), fileId: crypto.randomUUID() }],
    ["what is no password", { password: "", hasPassword: true, passwordChangedAt: "2026-11-21T00:00:00Z" }],
    ["a text about tokens", { text: "The token is in the drawer, says the password policy." }],
    ["the same object twice", { a: [1], b: [1] }],
    ["a plain URL", { url: "https://example.com/api/storage/1?w=100" }],
    ["a short secret-looking flag", { token: "none" }],
    ["exactly 64 KiB", "x".repeat(65_534)],
    ["64 levels", deep(64)],
  ])("%s", ([, args]) => expect(JSON.parse(jobArguments("tasks.remind", args) ?? "")).toEqual(args));

  test("an absent member is no member, and no arguments are none", () => {
    expect(jobArguments("x", { a: undefined, b: 1 })).toBe('{"b":1}');
    expect(jobArguments("x", undefined)).toBeNull();
  });
});
