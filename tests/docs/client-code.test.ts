// If this file fails, an example for the code of a page, in React or with the SDK, does not type-check.
import { spawnSync } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runHere } from "../support/cli.ts";
import { root } from "../support/global-setup.ts";
import { type Snippet, snippets } from "./markdown.ts";

// Inside the project, where the packages resolve.
const folder = join(root, ".svc", `client-code-${process.pid}`);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the reader of a page has. An application of the page has its own `api`, the others that of the desk and these. */
const deskApi = "../../../../../../examples/desk/web/svc/api.ts";
const desk = `
  import { api as desk } from "${deskApi}";
  interface More {
    visits: { after: Query<{ since: Date }, { id: number }[]> };
    rooms: {
      talk: ChannelRef<{
        input: { id: string };
        sent: { pointed: { x: number; y: number } };
        heard: { pointed: { x: number; y: number } };
        shown: { typing: boolean };
        seen: { typing: boolean };
        stored: false;
      }>;
      chat: ChannelRef<{
        input: { id: string };
        sent: { said: { text: string } };
        heard: { said: { text: string } };
        shown: null;
        seen: null;
        stored: true;
      }>;
    };
    expenses: { import: Mutation<{ storageId: string; format: "csv"; mode: "upsert"; by: string }, { id: string }> };
  }
  declare const api: typeof desk & More;`;
const prelude = `
  import { type ChannelRef, createAuthClient, createSvcClient, joinChannel, type Mutation, type Query, SvcError } from "@svc/client";
  import { skip, useChannel, useInfiniteQuery, useMutation, useQuery, useSvcClient, useWorkflow } from "@svc/react";
  import { useEffect, useRef, useState } from "react";
  const auth = createAuthClient("");
  const client = createSvcClient({ api, baseUrl: "", auth });
  declare const texts: Record<"email" | "password" | "name" | "otp" | "person" | "roomId" | "team" | "invitation", string>;
  const { email, password, name, otp, person, roomId, team, invitation } = texts;
  declare const numbers: Record<"productId" | "teamId", number>;
  const { productId, teamId } = numbers;
  declare const file: File;
  declare const snippet: { parts: { text: string; match: boolean }[] } | null;
  declare const draft: (message: object) => any;
`;

async function write(path: string, text: string): Promise<string> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
  return path;
}

/** @returns the files of the page that are for the compiler */
async function written(page: string, shown: readonly Snippet[]): Promise<string[]> {
  const files: string[] = [];
  // In their order: a page may show a file once more, with what it adds.
  for (const { file, text } of shown) if (file) files.push(await write(join(page, file), text));
  const isApplication = shown.some(({ file }) => file === "backend/index.ts");
  if (isApplication) {
    const { code, text } = await runHere(["codegen", "--cwd", join(folder, page)], {});
    if (code !== 0) throw new Error(text);
  }
  const api = isApplication ? `import { api } from "./svc/api.ts";` : desk;
  const examples = shown.filter(({ language, file }) => language === "tsx" && !file);
  const loose = examples.map(({ place, text }) => {
    const whole = /^(import|function) /.test(text) ? text : `export async function Example() {\n${text}\n}`;
    const own = text.startsWith("import ");
    const code = own && !isApplication ? text.replace("./svc/api.ts", deskApi) : whole;
    return write(join(page, "web", `${place.replaceAll(/\W/g, "_")}.tsx`), own ? code : `${prelude}${api}\n${code}`);
  });
  const isOfPage = (file: string) =>
    file.endsWith(".tsx") || (isApplication && file.startsWith(join(page, "web/")) && file.endsWith(".ts"));
  return [...files, ...(await Promise.all(loose))].filter(isOfPage);
}

test("the examples type-check", async () => {
  const pages = Map.groupBy(await snippets(), ({ place }) => place.replace(/\.md:.*/, ""));
  const isOfPage = ({ language, file }: Snippet) => language === "tsx" || file?.startsWith("web/");
  const withPages = [...pages].filter(([, shown]) => shown.some(isOfPage));
  expect(withPages.length).toBeGreaterThan(9);
  const files: string[] = [];
  for (const [page, shown] of withPages) files.push(...(await written(page, shown)));
  const compilerOptions = { noUnusedLocals: false };
  await write("tsconfig.json", JSON.stringify({ extends: "../../tsconfig.json", compilerOptions, include: [], files }));
  const tsc = spawnSync(join(root, "node_modules/.bin/tsc"), ["--noEmit", "-p", folder, "--pretty", "false"], {
    encoding: "utf8",
  });
  expect(tsc.stdout).toBe("");
});
