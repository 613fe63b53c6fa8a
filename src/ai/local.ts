/**
 * Engines that run on this machine without cost: tesseract reads images, espeak-ng speaks, pocketsphinx listens, and `local-hash`
 * embeds by words. They are programs of the operating system; the error for a missing one says how to install it.
 * Next hop: `program.ts`.
 */
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SvcError } from "../kit/svc-error.ts";
import { ImageChildren } from "../storage/image-children.ts";
import { hashEmbedding } from "./local-hash.ts";
import { InputRefused, inTurn, runProgram } from "./program.ts";
import type { Provider } from "./provider.ts";
import { speechSamples } from "./wav.ts";

const free = { inputTokens: 0, outputTokens: 0 };

/** They start with the first image. */
const children = new ImageChildren();

export function localProvider(): Provider {
  return {
    async embed(model, texts) {
      requireModel(model, "local-hash");
      return { embeddings: texts.map(hashEmbedding), usage: free };
    },

    async rerank(model, query, documents) {
      requireModel(model, "local-hash");
      const wanted = hashEmbedding(query);
      return documents.map((document) => dot(wanted, hashEmbedding(document)));
    },

    async extractText(model, image, _mediaType, signal, user) {
      // The language is part of the model's name: local-tesseract, local-tesseract-deu.
      const [named, language = "eng"] = /^local-tesseract(?:-([a-z_+]{3,40}))?$/.exec(model) ?? [];
      if (named === undefined) throw unknownModel(model, "local-tesseract");
      const printed = await inTurn("tesseract", { signal, user }, async () => {
        const picture = await redrawn(image);
        return runProgram("tesseract", ["stdin", "stdout", "-l", language], picture, signal);
      }).catch(async (error) => {
        if (error instanceof InputRefused) await requireLanguages(language, signal);
        throw error;
      });
      return { text: printed.toString("utf8").trim(), usage: free };
    },

    async synthesize(model, input, voice, signal, user) {
      requireModel(model, "local-espeak");
      const chosen = voice !== undefined && /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(voice) ? ["-v", voice] : [];
      const args = ["--stdout", "--stdin", ...chosen];
      const speak = () => runProgram("espeak-ng", args, Buffer.from(input), signal);
      const audio = await inTurn("espeak-ng", { signal, user }, speak);
      return { audio: new Uint8Array(audio), mediaType: "audio/wav" };
    },

    async transcribe(model, audio, _mediaType, signal, user) {
      requireModel(model, "local-pocketsphinx");
      return inTurn("pocketsphinx_continuous", { signal, user }, () => listen(audio, signal));
    },
  };
}

const recordings = "svc-speech-";

/** In milliseconds. No recording is read for as long. */
const abandoned = 24 * 60 * 60_000;

/** Removes what killed processes have left: people speak in it. */
async function sweepRecordings(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(recordings))) {
    const path = join(tmpdir(), name);
    const known = await stat(path).catch(() => null);
    if (known && Date.now() - known.mtimeMs > abandoned)
      await rm(path, { recursive: true, force: true }).catch(() => {}); // of another user
  }
}

async function listen(audio: Uint8Array, signal: AbortSignal): Promise<string> {
  await sweepRecordings();
  const folder = await mkdtemp(join(tmpdir(), recordings));
  try {
    const [recording, raw] = [join(folder, "recording"), join(folder, "audio.raw")];
    await writeFile(raw, speechSamples(audio) ?? (await samplesBySox(recording, audio, signal)));
    const args = ["-infile", raw, "-logfn", "/dev/null"];
    const printed = await runProgram("pocketsphinx_continuous", args, null, signal);
    return printed.toString("utf8").trim().replace(/\s+/g, " ");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws SvcError BAD_REQUEST */
async function samplesBySox(recording: string, audio: Uint8Array, signal: AbortSignal): Promise<Buffer> {
  await writeFile(recording, audio);
  // sox recognizes most formats by their content, but MP3 only by a name.
  const isMp3 = /^(ID3|\xff[\xe2-\xff])/.test(Buffer.from(audio.subarray(0, 3)).toString("latin1"));
  const args = [...(isMp3 ? ["-t", "mp3"] : []), recording, ...samplesOnly];
  return runProgram("sox", args, null, signal).catch((error) => {
    if (!(error instanceof InputRefused)) throw error;
    throw new SvcError("BAD_REQUEST", "This recording cannot be read, or is longer than 34 minutes.", { cause: error });
  });
}

const unknownModel = (model: string, known: string) =>
  new SvcError("AI_NOT_CONFIGURED", undefined, { hint: `There is no model "${model}" here. Use "${known}".` });

/** @throws SvcError AI_NOT_CONFIGURED */
function requireModel(model: string, known: string): void {
  if (model !== known) throw unknownModel(model, known);
}

/** @throws SvcError AI_NOT_CONFIGURED when a language of tesseract is not installed */
async function requireLanguages(languages: string, signal: AbortSignal): Promise<void> {
  const there = await installedLanguages(signal);
  const missing = languages.split("+").filter((language) => !there.includes(language));
  if (missing.length === 0) return;
  const packages = missing.map((language) => `tesseract-ocr-${language.replaceAll("_", "-")}`).join(" ");
  throw new SvcError("AI_NOT_CONFIGURED", undefined, {
    hint: `A language of tesseract is not installed where svc runs: apt install ${packages}.`,
  });
}

/** The languages of tesseract on this machine. `osd`, which finds out how a page is turned, is listed too. */
export async function installedLanguages(signal: AbortSignal): Promise<string[]> {
  return (await runProgram("tesseract", ["--list-langs"], null, signal)).toString("utf8").split("\n");
}

/**
 * Converts the image to a PNG of our own, in a process that can be killed. Otherwise tesseract would take a file that is
 * not an image for a list of files on this machine, and read those.
 *
 * @throws SvcError BAD_REQUEST
 */
async function redrawn(image: Uint8Array): Promise<Buffer> {
  try {
    return (await children.transform(Buffer.from(image), { f: "png" }, false)).bytes;
  } catch (cause) {
    throw new SvcError("BAD_REQUEST", "This image cannot be read, or is too large.", {
      hint: "PNG, JPEG, WebP, GIF and AVIF are read here, up to 40 megapixels.",
      cause,
    });
  }
}

const samplesOnly = ["-r", "16000", "-c", "1", "-b", "16", "-e", "signed", "-t", "raw", "-"];

const dot = (a: number[], b: number[]) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
