// If this file fails, a few kilobytes from any caller block a process for minutes or longer: a pattern that rescans
// text that it has just read.

import { runInNewContext } from "node:vm";
import { GraphQLError } from "grafast/graphql";
import { describe, expect, test } from "vitest";
import { withoutSession } from "../../src/auth/library-cookies.ts";
import type { CrudDefinition } from "../../src/contract/crud.ts";
import { sniff } from "../../src/documents/sniff.ts";
import { invalidDocument } from "../../src/graphql/errors.ts";
import { jobArguments } from "../../src/jobs/job-arguments.ts";
import { acronymsOf } from "../../src/rag/acronyms.ts";
import { replacesWord } from "../../src/rag/replacements.ts";
import { holdsSpecifics } from "../../src/rag/specifics.ts";
import { citedSentences } from "../../src/rag/written-prompt.ts";
import { cleanName } from "../../src/storage/names.ts";
import { sqlPanel } from "../../src/studio/sql-panel.ts";
import { mask } from "../../src/telemetry/mask.ts";
import { runInThread } from "../../src/text/worker-thread.ts";
import { headerOf } from "../../src/transfer/import-batch.ts";

/** Returns the result, or throws after ten seconds: naive patterns took minutes or ages for each of these inputs. */
const ended = <T>(work: () => T): T => runInNewContext("work()", { work }, { timeout: 10_000 });

const mebibyte = 1024 * 1024;
const much = (part: string, length = mebibyte) => part.repeat(Math.ceil(length / part.length));

describe("an end is found", () => {
  test("to a document that is nothing but comments", () => {
    const comments = Buffer.from(`${much("<!---->", 1000)}x`);
    expect(ended(() => sniff(comments, { filename: "a.txt" }))).toBe("txt");
  });

  test.each(["eyJ-", "a.", "sk-", " ", "Bearer ", "?token=", "postgres://", "a://b:"])(
    "to arguments of a job that are full of %j",
    (part) => {
      expect(() => ended(() => jobArguments("report", { text: much(part) }))).toThrow("may be 65536");
      expect(ended(() => jobArguments("report", { text: `${much("a.eyJ-", 60_000)} ` }))).toContain("eyJ");
    },
  );

  test.each(["eyJ-", "a.", "a://", "-----BEGIN ", "token", "Bearer "])(
    "to a message for the log full of %j",
    (part) => {
      expect(ended(() => mask(much(part))).length).toBeGreaterThan(0);
    },
  );

  test("to a Cookie header full of spaces", () => {
    expect(ended(() => withoutSession(`authlib.a=b;${much(" ", 16 * mebibyte)}`))).toBe("authlib.a=b");
  });

  test("to the comments before a statement in Studio", () => {
    const text = `/**${much("//**//**", 19_000)}`;
    const ask = () => sqlPanel.answer({ as: null, text, plan: false } as never, {} as never);
    expect(() => ended(ask)).toThrow("This panel reads");
  });

  test("to the white space that a model writes", () => {
    expect(ended(() => citedSentences(`It opens at nine [1].${much("\r\t", 400_000)}x`))[0]?.cited).toEqual([1]);
  });

  test.each([
    ["many names", Array.from({ length: 150_000 }, (_, at) => at.toString(36)).join(",")],
    ["a long name", much("x")],
  ])("to %s in the first line of an import", (_, line) => {
    const visible = new Set(Array.from({ length: 20 }, (_, at) => `aColumnOfTheTable${at}`));
    const crud = { visible, columns: [] } as unknown as CrudDefinition;
    expect(() => ended(() => headerOf(crud, line))).toThrow("which is not a column.");
  });

  test("to the name of a file", () => {
    expect(ended(() => cleanName(`${much("é ", 32 * mebibyte)}.txt`))).toMatch(/^é .*\.txt$/);
  });

  test("to a claim that consists of acronyms", () => {
    expect(ended(() => acronymsOf(much("a (AB) ", 100_000))).length).toBeGreaterThan(10_000);
  });

  test("to the white space of a claim", () => {
    expect(ended(() => holdsSpecifics(`It opens${much("\t", 200_000)}at Nine`, "nine"))).toBe(true);
  });

  test("to a claim and a sentence that repeat their words", () => {
    const claim = `${much("q x ", 24_000)} q z`;
    expect(ended(() => replacesWord(claim, `${much("q z ", 12_000)} x`))).toBe(false);
  });

  test("to what GraphQL says of a value that looks like its suggestions", () => {
    const said = `Int cannot represent non-integer value: "${much(" Did you mean ", 4 * mebibyte)}"`;
    const { errors } = ended(() => invalidDocument([new GraphQLError(said)], false));
    expect(errors[0]?.message).toBe(said);
  });
});

test("a text that its parser takes minutes for is given up, and the next one is read", async () => {
  const refused = runInThread("cut", ["*a_".repeat(50_000), "markdown"], { timeMs: 300 });
  await expect(refused).rejects.toMatchObject({ code: "DOCUMENT_UNREADABLE", message: "It takes too long to read." });
  for (const title of ["A", "B"]) {
    expect(await runInThread("cut", [`# ${title}\n\nb`, "markdown"])).toMatchObject([{ title }]);
  }
  expect(await runInThread("neutralise", ["<b>a</b>"])).toBe("&lt;b>a&lt;/b>");
});

test("what is looked for is found where it begins within something like it", () => {
  const jwt = `eyJ${"a".repeat(20)}.${"b".repeat(20)}.${"c".repeat(20)}`;
  for (const text of [jwt, `x-${jwt}`, `eyJaaaaaaaa-${jwt}`, `eyJ-eyJ-${jwt}`]) {
    expect(mask(`so ${text} it is`)).not.toContain("ccc");
    expect(() => jobArguments("report", { text })).toThrow("JSON Web Token");
  }
  expect(() => jobArguments("report", { text: "see my.own+scheme://me:word@host" })).toThrow("URL with a password");
  expect(withoutSession("authlib.a=b=c;  authlib.d=e;x=y;authlib.session_token=s;=z")).toBe(
    "authlib.a=b=c; authlib.d=e",
  );
  for (const text of ["<!-- a --> <!-- <html> --><html>", "<?xml version='1'?>\n<!DOCTYPE html>", "<body>"]) {
    expect(sniff(Buffer.from(text), {})).toBe("html");
  }
  expect(sniff(Buffer.from("<!-- <html>"), {})).toBe("txt");
});
