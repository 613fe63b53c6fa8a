// If this file fails, an author learns of a mistake in a workflow only when its first run fails, or never.
import { describe, expect, test } from "vitest";
import { clientApi } from "../../src/codegen/client-api.ts";
import { DefinitionError, defineApi, workflow } from "../../src/index.ts";
import { milliseconds } from "../../src/kit/duration.ts";
import { procedure } from "../fixture/backend/index.ts";

const handler = () => 1;
const fine = workflow("test.fine", { handler });
test("names may have hyphens", () => expect(workflow("expense-approval.second-step", { handler })).toBeTruthy());

describe("workflow() refuses", () => {
  test.for([
    ["a name", "no name", { handler }, /cannot be "no name"\.\n {2}Use words/],
    [
      "options before the name",
      { handler } as never,
      { handler },
      /name of a workflow comes first, and cannot be an object/,
    ],
    ["no handler", "a.b", {}, /: handler: must be a function, got nothing/],
    ["a version", "a.b", { handler, version: 0 }, /: version: must be a whole number from 1/],
    ["retries", "a.b", { handler, retries: -1 }, /: retries\.limit: must be a whole number from 0/],
    ["a duration", "a.b", { handler, maxDuration: "soon" }, /: maxDuration: "soon" is not a duration/],
    ["concurrency", "a.b", { handler, concurrency: 1.5 }, /: concurrency: must be a whole number from 1/],
    [
      "an option that there is not",
      "a.b",
      { handler, retry: 3 },
      /"a\.b": "retry" is not a known key\. Did you mean "retries"/,
    ],
    [
      "retries of another form",
      "a.b",
      { handler, retries: { attempts: 3 } },
      /retries: "attempts" is not a known key.* limit, delay, maxDelay/,
    ],
    ["args", "a.b", { handler, args: { amount: "number" } }, /: args: The key "amount" takes a Standard Schema/],
  ] as const)("%s", ([, name, options, says]) => {
    expect(() => workflow(name, options as never)).toThrow(DefinitionError);
    expect(() => workflow(name, options as never)).toThrow(says);
  });
});

describe("defineApi", () => {
  test("refuses what is no workflow, and two of one name and version", () => {
    expect(() => defineApi({ workflows: { wrong: {} as never } })).toThrow(/workflows\.wrong is not a workflow/);
    expect(() => defineApi({ workflows: { fine, twin: workflow("test.fine", { handler }) } })).toThrow(/Two workflows/);
    expect(defineApi({ workflows: { fine, next: workflow("test.fine", { handler, version: 2 }) } })).toBeTruthy();
  });

  test("refuses a built-in name, in any version", () => {
    for (const version of [1, 2]) {
      const own = workflow("rag.ingest", { handler, version });
      expect(() => defineApi({ workflows: { own } })).toThrow(
        'A workflow is named "rag.ingest", which is built in.\n  Give workflows.own another name.',
      );
    }
  });

  test("refuses a procedure of a built-in name beside workflows", () => {
    const get = procedure.query.name("workflows.get").handler(() => 1);
    expect(() => defineApi({ procedures: { get }, workflows: { fine } })).toThrow(/which is built in/);
    expect(defineApi({ procedures: { get } })).toBeTruthy();
  });

  test("gives the client api.workflows", () => {
    const text = clientApi(defineApi({ workflows: { fine } }), "/app/web", "/app/backend/index.ts");
    expect(text).toContain('get: query("workflows.get")');
    expect(text).not.toContain("Untyped");
  });
});

test.for([
  ["3 days", 259_200_000],
  ["10 minutes", 600_000],
  ["1 hour 30 minutes", 5_400_000],
  ["1h, 30m", 5_400_000],
  ["1.5s", 1_500],
  ["250 ms", 250],
  [7, 7],
] as const)("the duration %j is %d ms", ([text, expected]) => expect(milliseconds(text)).toBe(expected));

test.for(["", "soon", "3", "3 moons", "-1 day", "11 years", "600 weeks", -1, Number.NaN])(
  "%j is no duration",
  (text) => {
    expect(() => milliseconds(text)).toThrow(RangeError);
  },
);
