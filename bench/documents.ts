/**
 * Documents: pages per second over pdftotext and the share of its words that are kept, two pages from beginning to end,
 * memory over a thousand pages, and how long the process that asks is held up meanwhile. Conversions run at low
 * priority, so pdftotext does too.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { convertDocument } from "../src/documents/convert.ts";
import { EngineProcesses } from "../src/documents/engine-processes.ts";
import { runEngine } from "../src/documents/engines/run.ts";
import type { Child } from "../src/documents/sandbox.ts";
import type { Task } from "../src/documents/types.ts";
import { usageOf } from "../src/kit/confined-process.ts";
import { makePdf } from "./documents/make-pdf.ts";
import { median } from "./measure.ts";

interface Sample {
  name: string;
  paths: string[];
}

const words = (text: string) => text.normalize("NFKC").match(/[\p{L}\p{N}]+/gu) ?? [];

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const make = (pages: number) => {
    const path = join(folder, `${pages}.pdf`);
    writeFileSync(path, makePdf(pages));
    return path;
  };
  const children = new EngineProcesses();
  const watched = watch(children);
  try {
    const samples = [
      { name: "100 pages", paths: [make(100)] },
      { name: "1,000 pages", paths: [make(1_000)] },
    ];
    const real = collection();
    if (real.length > 0) samples.push({ name: `${real.length} real files`, paths: real });
    console.info("\nPDF to Markdown");
    for (const sample of samples) await throughput(sample, watched);
    await engineAlone(samples.at(-1) as Sample);
    await twoPages(make(2), children);
  } finally {
    children.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Both take turns, three times. */
async function throughput({ name, paths }: Sample, watched: ReturnType<typeof watch>): Promise<void> {
  const ours: number[] = [];
  const theirs: number[] = [];
  const processor = { ours: 0, theirs: 0 };
  let pages = 0;
  let kept = { found: 0, wanted: 0 };
  const delay = monitorEventLoopDelay({ resolution: 1 });
  for (let round = 0; round < 3; round++) {
    const texts: string[] = [];
    pages = 0;
    delay.enable();
    let start = performance.now();
    let used = await watched.processor();
    for (const path of paths) {
      const result = await convertDocument(readFileSync(path), {}, { children: watched });
      texts.push(result.markdown);
      pages += result.pages.length;
    }
    ours.push(performance.now() - start);
    processor.ours += (await watched.processor()) - used;
    delay.disable();
    start = performance.now();
    used = processorOfChildren();
    const plain = paths.map(pdftotext);
    theirs.push(performance.now() - start);
    processor.theirs += processorOfChildren() - used;
    kept = recall(plain, texts);
  }
  const [one, other] = [median(ours), median(theirs)];
  console.info(
    `  ${name.padEnd(14)} ${per(pages, one)} pages/s   pdftotext ${per(pages, other)} pages/s   ${(other / one).toFixed(3)}x` +
      `, by processor time ${(processor.theirs / processor.ours).toFixed(3)}x` +
      `   words kept ${(kept.found / kept.wanted).toFixed(4)}   peak ${watched.peak().toFixed(0)} MiB` +
      `   event loop p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, most ${(delay.max / 1e6).toFixed(1)} ms`,
  );
}

/** Milliseconds that processes used which have ended. Only on Linux. */
function processorOfChildren(): number {
  if (!existsSync("/proc/self/stat")) return 0;
  const stat = readFileSync("/proc/self/stat", "utf8");
  // Behind the name, which may have spaces: ticks of a hundredth of a second.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

/**
 * The engine in one process that is warm, without a sandbox: what a process for each document costs. Processor time,
 * since other work on the machine counts against whoever takes longer.
 */
async function engineAlone({ name, paths }: Sample): Promise<void> {
  const all = async () => {
    for (const path of paths) await runEngine({ engine: "parser_a", kind: "pdf" }, readFileSync(path));
  };
  for (let round = 0; round < 3; round++) await all();
  const start = process.cpuUsage();
  for (let round = 0; round < 3; round++) await all();
  const { user, system } = process.cpuUsage(start);
  const ours = (user + system) / 3000 / paths.length;
  const begun = performance.now();
  for (const path of paths) pdftotext(path);
  const theirs = (performance.now() - begun) / paths.length;
  console.info(
    `  ${name}, in one warm process without sandbox: ${ours.toFixed(0)} ms of processor time a file; pdftotext ${theirs.toFixed(0)} ms each`,
  );
}

const per = (pages: number, milliseconds: number) => ((pages / milliseconds) * 1000).toFixed(0);

const pdftotext = (path: string) =>
  execFileSync("nice", ["-n", "5", "pdftotext", path, "-"], {
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 2 ** 28,
  }).toString();

/** How many of the words that pdftotext finds are in the results, counting each as often as it stands there. */
function recall(plain: string[], texts: string[]): { found: number; wanted: number } {
  let [found, wanted] = [0, 0];
  for (const [at, text] of plain.entries()) {
    const have = new Map<string, number>();
    for (const word of words((texts[at] ?? "").replaceAll("<br>", " "))) have.set(word, (have.get(word) ?? 0) + 1);
    for (const word of words(text)) {
      const left = have.get(word) ?? 0;
      if (left > 0) found++;
      have.set(word, left - 1);
      wanted++;
    }
  }
  return { found, wanted };
}

async function twoPages(path: string, children: EngineProcesses): Promise<void> {
  const bytes = readFileSync(path);
  const [cold, warm]: [number[], number[]] = [[], []];
  for (let round = 0; round < 9; round++) {
    let start = performance.now();
    await convertDocument(bytes);
    cold.push(performance.now() - start);
    // As in a worker that has converted before.
    await convertDocument(bytes, {}, { children });
    start = performance.now();
    await convertDocument(bytes, {}, { children });
    warm.push(performance.now() - start);
  }
  console.info(
    `two pages: p50 ${median(warm).toFixed(0)} ms, the first ones of a process ${median(cold).toFixed(0)} ms`,
  );
}

/** The memory and the processor time of processes of engines. */
function watch(children: EngineProcesses) {
  let peak = 0;
  const started = new Set<Child>();
  return {
    release: (task: Task) => children.release(task),
    take(task: Task) {
      const child = children.take(task);
      if (started.has(child)) return child;
      started.add(child);
      const look = () => {
        const status = existsSync(`/proc/${child.process.pid}/status`)
          ? readFileSync(`/proc/${child.process.pid}/status`, "utf8")
          : "";
        peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
      };
      const clock = setInterval(look, 20);
      child.process.once("close", () => {
        clearInterval(clock);
        started.delete(child);
      });
      return child;
    },
    /** Milliseconds of processes that ended, and of those that wait for another document. */
    async processor() {
      const used = await Promise.all([...started].map(({ process }) => usageOf(process.pid)));
      return used.reduce((sum, { processorMs }) => sum + processorMs, processorOfChildren());
    },
    peak() {
      const most = peak;
      peak = 0;
      return most;
    },
  };
}

/** PDF of the collection that lies beside the project, where it does. */
function collection(): string[] {
  for (let from = import.meta.dirname; dirname(from) !== from; from = dirname(from)) {
    const folder = join(from, "shared/corpora/documents/pdf");
    if (existsSync(folder)) return readdirSync(folder).map((name) => join(folder, name));
  }
  return [];
}
