/** The local programs, if installed: tesseract reads, espeak-ng speaks, pocketsphinx listens. */
import { accessSync, constants } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { localProvider } from "../../src/ai/local.ts";
import { runProgram } from "../../src/ai/program.ts";
import { speechSamples } from "../../src/ai/wav.ts";
import { drawnText } from "../support/drawn-text.ts";
import { isRunning } from "../support/is-running.ts";

const provider = localProvider();
const never = new AbortController().signal;

/** Skips tests whose programs are not installed, and says why. */
function needs(...programs: string[]) {
  const isThere = (program: string) =>
    (process.env.PATH ?? "").split(delimiter).some((folder) => {
      try {
        accessSync(join(folder, program), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
  const missing = programs.filter((program) => !isThere(program));
  if (missing.length > 0) console.warn(`not installed, and not tested: ${missing.join(", ")} (apt-get install them)`);
  return test.skipIf(missing.length > 0);
}

const picture = await drawnText("Invoice 4711 of March", 1000, 200).png().toBuffer();

needs("tesseract")("tesseract reads the text in an image", async () => {
  const read = await provider.extractText?.("local-tesseract", picture, "image/png", never);
  expect(read).toEqual({ text: "Invoice 4711 of March", usage: { inputTokens: 0, outputTokens: 0 } });
});

needs("tesseract")("an image that is none is an error in our own words", async () => {
  const read = provider.extractText?.("local-tesseract", Buffer.from("no image"), "image/png", never);
  await expect(read).rejects.toMatchObject({ code: "BAD_REQUEST", hint: expect.stringContaining("PNG, JPEG") });
});

needs("tesseract")("an image that names files reads none of them: they may be somebody else's", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-vision-"));
  try {
    const secret = join(folder, "secret");
    await writeFile(secret, picture);
    for (const list of [`${secret}\n`, `\n${secret}\n${secret}\n`, `BM\n${secret}\n`]) {
      const read = provider.extractText?.("local-tesseract", Buffer.from(list), "image/png", never);
      await expect(read).rejects.toMatchObject({ code: "BAD_REQUEST" });
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("what a killed process has left of a recording is removed a day later, and nothing else", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-left-"));
  const { TMPDIR: before } = process.env;
  process.env.TMPDIR = folder;
  try {
    for (const [name, hours] of [
      ["svc-speech-old", 25],
      ["svc-speech-new", 23],
      ["of-another", 25],
    ] as const) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, "audio.raw"), "");
      const time = Date.now() / 1000 - hours * 3_600;
      await utimes(join(folder, name), time, time);
    }
    const silence = Buffer.from("no recording");
    await provider.transcribe?.("local-pocketsphinx", silence, "audio/wav", never)?.catch(() => {});
    expect((await readdir(folder)).sort()).toEqual(["of-another", "svc-speech-new"]);
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await rm(folder, { recursive: true });
  }
});

needs("espeak-ng", "pocketsphinx_continuous")("espeak-ng says what pocketsphinx hears", async () => {
  const spoken = await provider.synthesize?.("local-espeak", "one two three four five", undefined, never);
  expect(spoken?.mediaType).toBe("audio/wav");
  const heard = await provider.transcribe?.("local-pocketsphinx", spoken?.audio as Uint8Array, "audio/wav", never);
  expect(heard).toMatch(/^one two three/);
});

needs("espeak-ng")("a text is never an option of the program that speaks it", async () => {
  const spoken = await provider.synthesize?.("local-espeak", "--version", undefined, never);
  expect(Buffer.from(spoken?.audio ?? []).toString("latin1", 0, 4)).toBe("RIFF");
});

test("a program ends with its call", async () => {
  const controller = new AbortController();
  const running = runProgram("sleep", ["60"], null, controller.signal);
  controller.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
});

test("a program that ignores the polite signal ends with its call, too", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-stubborn-"));
  try {
    const file = join(folder, "pid");
    const controller = new AbortController();
    // Longer than the poll below waits.
    const script = `trap '' TERM; echo $$ > ${file}; exec sleep 300`;
    const running = runProgram("sh", ["-c", script], null, controller.signal);
    const pid = () => readFile(file, "utf8").then(Number, () => 0);
    await expect.poll(pid).toBeGreaterThan(0);
    const started = await pid();
    controller.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await expect.poll(() => isRunning(started), { timeout: 20_000 }).toBe(false);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("many pictures at once run two programs, and the others wait", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-many-"));
  const { PATH } = process.env;
  try {
    const log = join(folder, "log");
    const script = `#!/bin/sh\ncat > /dev/null\necho begins >> ${log}\nsleep 0.2\necho ends >> ${log}\n`;
    await writeFile(join(folder, "tesseract"), script);
    await chmod(join(folder, "tesseract"), 0o755);
    process.env.PATH = `${folder}${delimiter}${PATH}`;
    const read = () => provider.extractText?.("local-tesseract", picture, "image/png", never);
    await Promise.all(Array.from({ length: 8 }, read));
    let [running, most] = [0, 0];
    for (const line of (await readFile(log, "utf8")).trim().split("\n")) {
      running += line === "begins" ? 1 : -1;
      most = Math.max(most, running);
    }
    expect([running, most]).toEqual([0, 2]);
  } finally {
    process.env.PATH = PATH;
    await rm(folder, { recursive: true });
  }
});

test("a local model that does not exist is not another one", async () => {
  const missing = { code: "AI_NOT_CONFIGURED", hint: expect.stringContaining("local-nothing") };
  await expect(provider.extractText?.("local-nothing", picture, "image/png", never)).rejects.toMatchObject(missing);
  await expect(provider.synthesize?.("local-nothing", "one", undefined, never)).rejects.toMatchObject(missing);
  await expect(provider.embed?.("local-nothing", ["one"], never)).rejects.toMatchObject(missing);
});

needs("tesseract")("a language that is missing says how to get it", async () => {
  await expect(provider.extractText?.("local-tesseract-xx_yy", picture, "image/png", never)).rejects.toMatchObject({
    code: "AI_NOT_CONFIGURED",
    hint: expect.stringContaining("apt install tesseract-ocr-xx-yy"),
  });
});

needs("sox")("a file that is no recording is a fault of the caller", async () => {
  const heard = provider.transcribe?.("local-pocketsphinx", Buffer.from("#EXTM3U\n/etc/passwd\n"), "audio/x", never);
  await expect(heard).rejects.toMatchObject({ code: "BAD_REQUEST" });
});

test("a program that is missing says how to get it", async () => {
  await expect(runProgram("no-such-program", [], null, never)).rejects.toMatchObject({
    code: "AI_NOT_CONFIGURED",
    hint: expect.stringContaining("no-such-program is not installed"),
  });
});

test("programs see none of the platform's keys", async () => {
  process.env.AI_API_KEY = "sk-secret";
  try {
    expect((await runProgram("env", [], null, never)).toString()).not.toContain("sk-secret");
  } finally {
    delete process.env.AI_API_KEY;
  }
});

describe("WAV becomes 16,000 samples a second of one channel", () => {
  /** A second of a constant. */
  function wav(rate: number, channels: number, bits: number, code = 1, length?: number): Buffer {
    const data = Buffer.alloc(rate * channels * (bits / 8));
    for (let at = 0; at < data.length; at += bits / 8) {
      if (code === 3) data.writeFloatLE(0.5, at);
      else if (bits === 8) data.writeUInt8(192, at);
      else data.writeIntLE(2 ** (bits - 2), at, bits / 8);
    }
    const head = Buffer.alloc(44);
    head.write("RIFF\0\0\0\0WAVEfmt ", 0, "latin1");
    head.writeUInt32LE(16, 16);
    head.writeUInt16LE(code, 20);
    head.writeUInt16LE(channels, 22);
    head.writeUInt32LE(rate, 24);
    head.writeUInt16LE(bits, 34);
    head.write("data", 36, "latin1");
    head.writeUInt32LE(length ?? data.length, 40);
    return Buffer.concat([head, data]);
  }

  test.each([
    [16_000, 1, 16],
    [44_100, 2, 16],
    [22_050, 1, 8],
    [48_000, 2, 24],
    [8_000, 1, 32],
    [48_000, 6, 32, 3],
  ])("from %i Hz, %i channels, %i bits", (rate, channels, bits, code = 1) => {
    const samples = speechSamples(wav(rate, channels, bits, code)) as Buffer;
    expect(samples).toHaveLength(32_000);
    for (const at of [0, 16_000, 31_998]) expect(samples.readInt16LE(at) / 32_767).toBeCloseTo(0.5, 2);
  });

  test("whose length was not known when it began", () => {
    expect(speechSamples(wav(16_000, 1, 16, 1, 0xffff_ffff))).toHaveLength(32_000);
  });

  test("of more than 34 minutes is refused, before it is read", () => {
    const long = Buffer.concat([wav(4_000, 1, 8, 1, 0xffff_ffff), Buffer.alloc(34 * 60 * 4_000)]);
    expect(() => speechSamples(long)).toThrow("longer than 34 minutes");
  });

  test.each([
    ["cut off in its head", wav(16_000, 1, 16).subarray(0, 30)],
    ["without channels", wav(16_000, 0, 16)],
    ["of another coding", wav(16_000, 1, 16, 85)],
    ["no WAV", Buffer.from("ID3 and what follows")],
  ])("%s is left to another program", (_, bytes) => {
    expect(speechSamples(bytes)).toBeNull();
  });
});
