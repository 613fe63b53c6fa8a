// If this file fails, tools that others wrote find what ours overlook: a weak Content-Security-Policy, an upload that a
// published tus client cannot finish, hooks that break the rules of React's compiler, or files, packages and exports that
// nothing uses.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { studio } from "../studio/test-studio.ts";
import { database } from "../support/database.ts";
import { bytesFolder, fileProcedures } from "../support/files.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, bearer, service } from "../support/service.ts";
import { collection, pattern } from "../support/uploads.ts";

const run = promisify(execFile);
let folder: string;
// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed where types are checked
const outside = (name: string): any => createRequire(join(folder, "package.json"))(name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-outside-"));
  const hooks = ["eslint@9", "eslint-plugin-react-hooks@7", "typescript-eslint@8", "typescript@5.9"];
  const packages = ["knip@6", "csp_evaluator@1", "tus-js-client@4", ...hooks];
  const options = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
  await run("npm", ["install", "--prefix", folder, ...options, ...packages], { cwd: folder });
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

test("knip finds no unused file, package or export", async () => {
  const { exitCode, output } = await run(join(folder, "node_modules/.bin/knip"), ["--no-progress"], { cwd: root }).then(
    () => ({ exitCode: 0, output: "" }),
    ({ code, stdout }) => ({ exitCode: code, output: stdout }),
  );
  expect(output).toBe("");
  expect(exitCode).toBe(0);
});

// Of the list of an effect's dependencies Biome judges, which knows our exceptions.
test("eslint-plugin-react-hooks finds nothing against the rules of React and its compiler in the hooks", async () => {
  const { ESLint } = outside("eslint");
  const plugin = outside("eslint-plugin-react-hooks");
  const { parser } = outside("typescript-eslint");
  const rules = { ...plugin.configs.flat["recommended-latest"].rules, "react-hooks/exhaustive-deps": "off" };
  const config = { files: ["**/*.{ts,tsx}"], languageOptions: { parser }, plugins: { "react-hooks": plugin }, rules };
  const eslint = new ESLint({ cwd: root, overrideConfigFile: true, overrideConfig: config });
  type Result = { filePath: string; messages: { line: number; message: string }[] };
  const broken = (results: Result[]) =>
    results.flatMap(({ filePath, messages }) => messages.map(({ line, message }) => `${filePath}:${line} ${message}`));
  expect(broken(await eslint.lintFiles(["client/react/src"]))).toEqual([]);
  const wrong = "import { useRef } from 'react'; export function useIt(a) { const b = useRef(a); b.current = a; }";
  expect(broken(await eslint.lintText(wrong, { filePath: join(root, "wrong.ts") }))).toHaveLength(1);
});

describe("with a service", () => {
  const db = database();
  const svc = service(db, apiWith({ procedures: fileProcedures }), {
    storage: { driver: "disk", dir: bytesFolder() },
    uploads: { enabled: true, public: true },
  });
  const opened = studio(db);

  /** Google's evaluator. @returns what it rates as high or medium, and faults of syntax, as lines */
  function weaknesses(policy: string): string[] {
    const { CspEvaluator } = outside("csp_evaluator/dist/evaluator.js");
    const { CspParser } = outside("csp_evaluator/dist/parser.js");
    const { Severity } = outside("csp_evaluator/dist/finding.js");
    const findings: { severity: number; directive: string; description: string }[] = new CspEvaluator(
      new CspParser(policy).csp,
    ).evaluate();
    return findings
      .filter(({ severity }) => severity <= Severity.MEDIUM)
      .map(({ directive, description }) => `${directive}: ${description}`);
  }

  test("csp_evaluator finds nothing of weight in the policy of any page", async () => {
    const policies: Record<string, string> = {};
    for (const path of ["/openapi", "/api/graphql", "/api/nothing"]) {
      const { headers } = await svc.fetch(path, { headers: { accept: "text/html" } });
      policies[path] = headers.get("content-security-policy") ?? "";
    }
    policies.studio = String((await opened.raw("/")).headers["content-security-policy"]);
    for (const [page, policy] of Object.entries(policies)) {
      expect(policy, page).not.toBe("");
      expect(weaknesses(policy), page).toEqual([]);
    }
    expect(weaknesses("script-src 'unsafe-inline' *")).not.toEqual([]);
  });

  test("tus-js-client sends a file in parts, loses its connection, continues, and the file is whole", async () => {
    const ann = await svc.signUp("ann");
    const { Upload } = outside("tus-js-client");
    const bytes = pattern(1_000_003);
    const options = {
      endpoint: `${svc.url}${collection}`,
      headers: bearer(ann),
      metadata: { filename: "Überblick.bin", filetype: "application/octet-stream", visibility: "public" },
      chunkSize: 100_000,
      retryDelays: null,
    };
    const half = await new Promise<string>((resolve, reject) => {
      const upload = new Upload(bytes, {
        ...options,
        onError: reject,
        onChunkComplete: (_size: number, accepted: number) => {
          if (accepted >= 500_000) void upload.abort().then(() => resolve(upload.url));
        },
      });
      upload.start();
    });
    await new Promise<void>((resolve, reject) => {
      new Upload(bytes, { ...options, uploadUrl: half, onError: reject, onSuccess: () => resolve() }).start();
    });
    const id = half.slice(half.lastIndexOf("/") + 1);
    const { body } = await svc.query(ann, "files.meta", { id });
    expect(body.json).toMatchObject({ name: "Überblick.bin", size: bytes.length, visibility: "public" });
    const stored = await fetch(`${svc.url}/api/storage/${id}`);
    expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true);
  });
});
