/**
 * Engines that run on this machine without cost: tesseract reads images, espeak-ng speaks, pocketsphinx listens, and
 * `local-hash` embeds by words. They are programs of the operating system; the error for a missing one says how to
 * install it.
 * Next hop: `program.ts`.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SvcError } from "../kit/svc-error.ts";
import { hashEmbedding } from "./local-hash.ts";
import { runProgram } from "./program.ts";
import type { Provider } from "./provider.ts";
import { speechSamples } from "./wav.ts";

const free = { inputTokens: 0, outputTokens: 0 };

export function localProvider(): Provider {
  return {
    async embed(_model, texts) {
      return { embeddings: texts.map(hashEmbedding), usage: free };
    },

    async rerank(_model, query, documents) {
      const wanted = hashEmbedding(query);
      return documents.map((document) => dot(wanted, hashEmbedding(document)));
    },

    async extractText(model, image, _mediaType, signal) {
      // The language is part of the model's name: local-tesseract, local-tesseract-deu.
      const [, language = "eng"] = /^local-tesseract-([a-z_+]{3,20})$/.exec(model) ?? [];
      const picture = await redrawn(image);
      const printed = await runProgram("tesseract", ["stdin", "stdout", "-l", language], picture, signal);
      return { text: printed.toString("utf8").trim(), usage: free };
    },

    async synthesize(_model, input, voice, signal) {
      const chosen = voice !== undefined && /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(voice) ? ["-v", voice] : [];
      const audio = await runProgram("espeak-ng", ["--stdout", "--stdin", ...chosen], Buffer.from(input), signal);
      return { audio: new Uint8Array(audio), mediaType: "audio/wav" };
    },

    async transcribe(_model, audio, _mediaType, signal) {
      const folder = await mkdtemp(join(tmpdir(), "svc-speech-"));
      try {
        const [recording, raw] = [join(folder, "recording"), join(folder, "audio.raw")];
        await writeFile(recording, audio);
        // WAV is read directly; sox recognizes other formats by their content.
        await writeFile(
          raw,
          speechSamples(audio) ?? (await runProgram("sox", [recording, ...samplesOnly], null, signal)),
        );
        const printed = await runProgram(
          "pocketsphinx_continuous",
          ["-infile", raw, "-logfn", "/dev/null"],
          null,
          signal,
        );
        return printed.toString("utf8").trim().replace(/\s+/g, " ");
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/**
 * Converts the image to a PNG of our own. Otherwise tesseract would take a file that is not an image for a list of
 * files on this machine, and read those.
 *
 * @throws SvcError BAD_REQUEST
 */
async function redrawn(image: Uint8Array): Promise<Buffer> {
  const { transformImage } = await import("../storage/image-engine.ts");
  try {
    return (await transformImage(Buffer.from(image), { f: "png" }, false)).bytes;
  } catch (cause) {
    throw new SvcError("BAD_REQUEST", "This image cannot be read, or is too large.", {
      hint: "PNG, JPEG, WebP, GIF and AVIF are read here, up to 40 megapixels.",
      cause,
    });
  }
}

const samplesOnly = ["-r", "16000", "-c", "1", "-b", "16", "-e", "signed", "-t", "raw", "-"];

const dot = (a: number[], b: number[]) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
