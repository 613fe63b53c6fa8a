/**
 * The tutorial as a script: reads commands and file edits from the Markdown, and follows them.
 * Next hop: `publish.test.ts` follows it in an application that `svc init` has made.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { root } from "../support/global-setup.ts";

const page = join(root, "docs/tutorial/first-application.md");

type Step =
  | { kind: "run"; command: string }
  | { kind: "edit"; file: string; how: "Create" | "Add to the end of" | "Replace all of"; text: string };

export interface Section {
  title: string;
  text: string;
  steps: Step[];
}

/** @throws Error for a code block that is neither a command nor a file edit */
export async function readTutorial(): Promise<Section[]> {
  const [, ...parts] = (await readFile(page, "utf8")).split(/^## /m);
  return parts.map((part) => {
    const steps: Step[] = [];
    for (const match of part.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
      const [, language, text = ""] = match;
      if (language === "sh") {
        steps.push(
          ...text
            .trim()
            .split("\n")
            .map((command): Step => ({ kind: "run", command })),
        );
        continue;
      }
      const before = part.slice(0, match.index).trimEnd().split(/\n\n/).at(-1)?.replaceAll("\n", " ") ?? "";
      const [, how, file] = /.*(Create|Add to the end of|Replace all of) `([^`]+)`/.exec(before) ?? [];
      if (!how || !file) throw new Error(`Where does this belong?\n${text}`);
      steps.push({ kind: "edit", how, file, text } as Step);
    }
    return { title: part.split("\n", 1)[0] ?? "", text: part, steps };
  });
}

/** The output that shows that a long-running command is ready. */
const readiness: Record<string, RegExp> = { "npm run dev": /Ready: \S+/, "npx svc worker": /Taking jobs/ };

/** Follows steps in one folder. Each long-running command has its own terminal. */
export class Newcomer {
  readonly #cwd: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #running = new Set<ChildProcess>();
  /** Files that its steps created: a test that runs a second time creates them again. */
  readonly #created = new Set<string>();
  /** Output since the last command began. */
  output = "";

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.#cwd = cwd;
    this.#env = env;
  }

  async take(step: Step | undefined): Promise<void> {
    if (!step) throw new Error("The tutorial has no such step any more.");
    await (step.kind === "run" ? this.#run(step.command) : this.#edit(step));
  }

  /** Kills all running commands and their children with SIGKILL. */
  async killAll(): Promise<void> {
    const ended = [...this.#running].map((child) => new Promise((resolve) => child.once("close", resolve)));
    for (const { pid } of this.#running) if (pid) process.kill(-pid, "SIGKILL");
    await Promise.all(ended);
  }

  async #edit({ how, file, text }: Extract<Step, { kind: "edit" }>): Promise<void> {
    const path = join(this.#cwd, file);
    await mkdir(dirname(path), { recursive: true });
    if (how === "Add to the end of") await appendFile(path, `\n${text}`);
    else await writeFile(path, text, { flag: how === "Create" && !this.#created.has(path) ? "wx" : "r+" });
    if (how === "Create") this.#created.add(path);
  }

  async #run(command: string): Promise<void> {
    this.output = "";
    const ready = readiness[command];
    const options = { cwd: this.#cwd, env: this.#env };
    if (!ready) {
      const ended = await promisify(execFile)("sh", ["-c", command], options).catch((error) => {
        throw new Error(`${command} failed:\n${error.stdout}${error.stderr}`);
      });
      this.output = ended.stdout + ended.stderr;
      return;
    }
    const child = spawn("sh", ["-c", command], { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    this.#running.add(child);
    await new Promise<void>((resolve, reject) => {
      const hear = (chunk: Buffer) => {
        this.output += chunk;
        if (ready.test(this.output)) resolve();
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      child.once("close", () => {
        this.#running.delete(child);
        reject(new Error(`${command} has ended:\n${this.output}`));
      });
    });
  }
}
