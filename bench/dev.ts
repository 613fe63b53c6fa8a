/**
 * From saving a file to the first answer of the new code: `svc dev`, which also generates and migrates, beside a
 * hand-written Express server under `node --watch`. They take turns. Also the start of that server, for `start.ts`.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "./measure.ts";
import { type Contestant, contestant } from "./process.ts";

const root = resolve(import.meta.dirname, "..");
const rounds = 5;

interface Side {
  name: string;
  process: Contestant;
  /** The file that is saved, and the text in it that changes. */
  file: string;
  word: string;
}

export async function run(): Promise<void> {
  // Beside the real one, so that imports of @svc/core and express resolve; without its state.
  const folder = mkdtempSync(join(root, "examples/.bench-"));
  cpSync(join(root, "examples/desk"), folder, { recursive: true, filter: (path) => !path.includes(".svc") });
  writeFileSync(join(folder, "express.ts"), express);
  const port = (n: number) => ({ PORT: String(4600 + n) });
  const sides: Side[] = [];
  try {
    sides.push({
      name: "svc dev",
      process: await contestant([join(root, "src/cli/svc.ts"), "dev", "--cwd", folder], port(1)),
      file: join(folder, "backend/board.ts"),
      word: "hello: request.params.name",
    });
    sides.push({
      name: "express",
      process: await contestant(["--watch", join(folder, "express.ts")], port(2)),
      file: join(folder, "express.ts"),
      word: "hello: request.params.name",
    });
    await measure(sides, "saves 3 s apart", 3_000, 0);
    await measure(sides, "saves right after the last answer", 0, rounds);
    console.info(`start: express ${(sides[1]?.process.readyMs ?? 0).toFixed(0)} ms`);
  } finally {
    for (const { process } of sides) await process.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param pause in milliseconds, before each save. `svc dev` makes a process ready for the next save, which takes a second
 * @param first the number of the first round
 */
async function measure(sides: readonly Side[], what: string, pause: number, first: number): Promise<void> {
  const times = new Map(sides.map(({ name }) => [name, [] as number[]]));
  for (let round = first; round < first + rounds; round++) {
    for (const side of sides) {
      await sleep(pause);
      times.get(side.name)?.push(await save(side, round));
    }
  }
  const [ours = 0, theirs = 0] = sides.map(({ name }) => median(times.get(name) ?? []));
  console.info(`\n${what}: svc dev ${ours.toFixed(0)} ms, express --watch ${theirs.toFixed(0)} ms`);
  console.info(`svc dev ÷ express --watch: ${(ours / theirs).toFixed(2)}x`);
}

/** Saves the file with another answer in it. @returns milliseconds until that answer comes */
async function save({ process, file, word }: Side, round: number): Promise<number> {
  const answer = `${round}`;
  const text = readFileSync(file, "utf8")
    .replace(/round: "\d+", /, "")
    .replace(word, `round: "${answer}", ${word}`);
  const started = performance.now();
  writeFileSync(file, text);
  for (;;) {
    const body = await fetch(`${process.url}/api/hello/you`).then(
      (response) => response.text(),
      () => "",
    );
    if (body.includes(`"round":"${answer}"`)) return performance.now() - started;
    await sleep(5);
  }
}

const express = `
import express from "express";
const app = express();
app.get("/api/hello/:name", (request, response) => {
  response.json({ hello: request.params.name });
});
app.listen(process.env.PORT, () => console.log("Ready: http://localhost:" + process.env.PORT));
`;
