/**
 * Engines that run on this machine, free of charge: tesseract reads images, espeak-ng speaks, pocketsphinx listens, and
 * `local-hash` embeds by words. They are programs of the operating system; one that is missing says how to get it.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SvcError } from "../errors/svc-error.ts";
import { hashEmbedding } from "./local-hash.ts";
import { type Provider, providerFailed } from "./provider.ts";

const free = { inputTokens: 0, outputTokens: 0 };

/** In bytes, of what a program prints. */
const maxOutput = 64 * 1024 * 1024;

export function localProvider(): Provider {
  return {
    async embed(_model, text) {
      return { embedding: hashEmbedding(text), usage: free };
    },

    async rerank(_model, query, documents) {
      const wanted = hashEmbedding(query);
      return documents.map((document) => dot(wanted, hashEmbedding(document)));
    },

    async extractText(_model, image, _mediaType, signal) {
      // The language pack stands in the model's name: local-tesseract, local-tesseract-deu.
      const [, language = "eng"] = /^local-tesseract-([a-z_+]{3,20})$/.exec(_model) ?? [];
      const printed = await run("tesseract", ["stdin", "stdout", "-l", language], image, signal);
      return { text: printed.toString("utf8").trim(), usage: free };
    },

    async synthesize(_model, input, voice, signal) {
      const chosen = voice !== undefined && /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(voice) ? ["-v", voice] : [];
      const audio = await run("espeak-ng", ["--stdout", "--stdin", ...chosen], Buffer.from(input), signal);
      return { audio: new Uint8Array(audio), mediaType: "audio/wav" };
    },

    async transcribe(_model, audio, _mediaType, signal) {
      const folder = await mkdtemp(join(tmpdir(), "svc-speech-"));
      try {
        const file = join(folder, "audio.wav");
        await writeFile(file, audio);
        const raw = await run(
          "sox",
          [file, "-r", "16000", "-c", "1", "-b", "16", "-e", "signed", "-t", "raw", "-"],
          null,
          signal,
        );
        await writeFile(join(folder, "audio.raw"), raw);
        const args = ["-infile", join(folder, "audio.raw"), "-logfn", "/dev/null"];
        return (await run("pocketsphinx_continuous", args, null, signal)).toString("utf8").trim().replace(/\s+/g, " ");
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

const dot = (a: number[], b: number[]) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

/** Debian's names of the packages. */
const packages: Record<string, string> = {
  tesseract: "tesseract-ocr",
  "espeak-ng": "espeak-ng",
  sox: "sox",
  pocketsphinx_continuous: "pocketsphinx pocketsphinx-en-us",
};

/** Runs a program with input on its standard input. No shell: arguments are what they are. */
function run(program: string, args: string[], input: Uint8Array | null, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], signal });
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxOutput) child.kill("SIGKILL");
      else chunks.push(chunk);
    });
    child.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return reject(missing(program));
      reject(signal.aborted ? signal.reason : providerFailed(`${program} could not be run`, error));
    });
    child.on("close", (code) => {
      if (code === 0) resolve(Buffer.concat(chunks));
      else reject(providerFailed(`${program} could not make anything of it`));
    });
    child.stdin.on("error", () => {}); // it may end before it has read everything
    child.stdin.end(input ?? undefined);
  });
}

const missing = (program: string) =>
  new SvcError("AI_NOT_CONFIGURED", undefined, {
    hint: `${program} is not installed where svc runs: apt install ${packages[program]}, or name another model in svc.config.ts.`,
  });
