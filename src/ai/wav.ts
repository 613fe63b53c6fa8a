/**
 * Converts recordings for speech recognition: 16,000 samples a second, one channel, 16 bit, no header. WAV is read
 * here, so that it needs no other program.
 */
import { SvcError } from "../kit/svc-error.ts";

const wanted = 16_000;
/** In seconds: the longest recording. Its samples are the largest output of a program (`program.ts`). */
const longest = 34 * 60;
const pcm = 1;
const float = 3;
const extensible = 0xfffe;

interface Format {
  code: number;
  channels: number;
  rate: number;
  bits: number;
}

/** @returns null for data that is not WAV, or an unsupported kind @throws SvcError BAD_REQUEST for a long recording */
export function speechSamples(file: Uint8Array): Buffer | null {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  if (bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WAVE") return null;
  let format: Format | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString("latin1", at, at + 4);
    const start = at + 8;
    // A writer to a pipe does not know the length yet, and declares a very large one.
    const end = Math.min(start + bytes.readUInt32LE(at + 4), bytes.length);
    if (name === "fmt " && end - start >= 16) format = readFormat(bytes, start, end);
    if (name === "data") return format && decode(bytes.subarray(start, end), format);
    at = end + (end % 2);
  }
  return null;
}

function readFormat(bytes: Buffer, start: number, end: number): Format {
  const code = bytes.readUInt16LE(start);
  return {
    code: code === extensible && end - start >= 26 ? bytes.readUInt16LE(start + 24) : code,
    channels: bytes.readUInt16LE(start + 2),
    rate: bytes.readUInt32LE(start + 4),
    bits: bytes.readUInt16LE(start + 14),
  };
}

function decode(data: Buffer, { code, channels, rate, bits }: Format): Buffer | null {
  const read = reader(data, code, bits);
  if (!read || channels < 1 || channels > 16 || rate < 4_000 || rate > 384_000) return null;
  const frames = Math.floor(data.length / ((bits / 8) * channels));
  if (frames > longest * rate) throw new SvcError("BAD_REQUEST", "This recording is longer than 34 minutes.");
  const mono = new Float32Array(frames);
  for (let frame = 0; frame < frames; frame++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++) sum += read((frame * channels + channel) * (bits / 8));
    mono[frame] = sum / channels;
  }
  return resample(mono, rate);
}

/** Reads one sample as a number from -1 to 1. */
function reader(data: Buffer, code: number, bits: number): ((at: number) => number) | null {
  if (code === float && bits === 32) return (at) => data.readFloatLE(at);
  if (code !== pcm) return null;
  if (bits === 8) return (at) => (data.readUInt8(at) - 128) / 128;
  return bits === 16 || bits === 24 || bits === 32 ? (at) => data.readIntLE(at, bits / 8) / 2 ** (bits - 1) : null;
}

/** Averages over the time of each new sample. This removes frequencies that are too high, well enough for speech. */
function resample(mono: Float32Array, rate: number): Buffer {
  const step = rate / wanted;
  const total = Math.floor(mono.length / step);
  const samples = Buffer.alloc(total * 2);
  for (let at = 0; at < total; at++) {
    const value = step <= 1 ? between(mono, at * step) : mean(mono, at * step, (at + 1) * step);
    samples.writeInt16LE(Math.round(Math.max(-1, Math.min(1, value)) * 32_767), at * 2);
  }
  return samples;
}

function between(mono: Float32Array, at: number): number {
  const before = Math.floor(at);
  const first = mono[before] ?? 0;
  return first + ((mono[before + 1] ?? first) - first) * (at - before);
}

function mean(mono: Float32Array, from: number, to: number): number {
  let sum = 0;
  for (let at = Math.floor(from); at < to; at++) {
    const share = Math.min(at + 1, to) - Math.max(at, from);
    sum += (mono[at] ?? 0) * share;
  }
  return sum / (to - from);
}
