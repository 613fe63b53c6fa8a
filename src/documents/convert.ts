/**
 * Converts a document to Markdown: finds out what it is, asks the providers of its route one after the other until one
 * does well, and says which were asked. Hosted ones are paid for: credits are reserved before they are called.
 * Next hop: `routing.ts` decides who is asked, `sandbox.ts`, `ocr.ts` and `hosted.ts` do it.
 */
import type {
  ConvertedDocument,
  ConvertOptions,
  DocumentKind,
  DocumentPage,
  DocumentProvider,
  ProviderStep,
} from "../contract/documents.ts";
import { SvcError } from "../kit/svc-error.ts";
import { unsupported } from "../text/refusals.ts";
import { convertHosted, type HostedEndpoint } from "./hosted.ts";
import { hasOcr, recognise } from "./ocr.ts";
import { type HostedProvider, isHosted, type Refusal, type RouteInput, route } from "./routing.ts";
import { type Child, EngineFailure, runSandboxed, type SandboxLimits } from "./sandbox.ts";
import { sniff } from "./sniff.ts";
import type { EngineResult, Task } from "./types.ts";

/** Holds back what a paid call may cost, so that concurrent calls cannot spend the same credits. */
export interface Credits {
  /** @throws SvcError when there are not that many */
  reserve(amount: number): Promise<{
    /** Charges what it did cost, and gives back the rest. */
    settle(amount: number): Promise<unknown>;
    /** Gives all of it back. */
    release(): Promise<void>;
  }>;
}

/** What the platform configured. */
export interface Platform {
  /** Endpoints of hosted providers. (Default: none) */
  hosted?: { readonly [Name in HostedProvider]?: Readonly<HostedEndpoint> | undefined };
  /** The cap of a conversion that names none, in credits. (Default: 100) */
  defaultCap?: number;
  /** Where hosted providers are paid from. (Default: nothing is kept) */
  credits?: Credits;
  limits?: SandboxLimits;
  /** Where the processes of engines come from. (Default: each is started when it is needed) */
  children?: { take(): Child };
  /** The largest document, in bytes. (Default: 52428800, 50 MiB) */
  largest?: number;
}

const free: Credits = { reserve: async () => ({ settle: async () => {}, release: async () => {} }) };

/**
 * @throws SvcError UNSUPPORTED_MEDIA_TYPE, DOCUMENT_UNREADABLE, DOCUMENT_ENCRYPTED, DOCUMENT_PAID_FALLBACK_REQUIRED,
 *   DOCUMENT_COST_ABOVE_CAP, PAYLOAD_TOO_LARGE, UNAVAILABLE when the provider asked for by name is not there or failed
 *
 * @example
 * const { markdown } = await convertDocument(await readFile("report.hwp"), { filename: "report.hwp" });
 */
export async function convertDocument(
  bytes: Buffer,
  options: ConvertOptions = {},
  platform: Platform = {},
): Promise<ConvertedDocument> {
  const { largest = 50 * 1024 * 1024, defaultCap = 100 } = platform;
  if (bytes.length > largest) throw new SvcError("PAYLOAD_TOO_LARGE", "The document is too large to convert.");
  const kind = sniff(bytes, options);
  const conversion = new Conversion(bytes, kind, options, platform);
  const { provider = "auto", mode, paidFallback = false, maxServiceCredits: cap = defaultCap } = options;
  const mayPay = paidFallback || (provider !== "auto" && isHosted(provider));
  if (kind === "pdf" && (mayPay || mode === "force-ocr")) await conversion.lookInside();
  const { steps, otherwise } = route({
    kind,
    scanned: conversion.scanned,
    provider,
    mode,
    paidFallback,
    cap,
    estimate: (name) => conversion.estimate(name),
    isAvailable: (name) => (isHosted(name) ? platform.hosted?.[name] !== undefined : name !== "ocr" || hasOcr()),
  });
  for (const step of steps) {
    const result = await conversion.ask(step);
    if (result) return result;
  }
  throw conversion.refuse(otherwise);
}

/** One document on its way from provider to provider. */
class Conversion {
  readonly #bytes: Buffer;
  readonly #kind: DocumentKind;
  readonly #options: ConvertOptions;
  readonly #platform: Platform;
  readonly #trace: ProviderStep[] = [];
  #pages: number;
  /** The text that pages have of their own, once somebody looked. */
  #known: string[] | undefined;
  scanned: RouteInput["scanned"] = "no";

  constructor(bytes: Buffer, kind: DocumentKind, options: ConvertOptions, platform: Platform) {
    this.#bytes = bytes;
    this.#kind = kind;
    this.#options = options;
    this.#platform = platform;
    // Until somebody counted them: 50 KiB a page is little for what is scanned, and much for what is written.
    this.#pages = Math.ceil(bytes.length / 51_200);
  }

  /** Counts the pages of a PDF, and sees whether they are pictures. */
  async lookInside(): Promise<void> {
    try {
      const { pages } = await this.#runLocal("parser_b");
      this.#known = pages;
      this.#pages = Math.max(pages.length, 1);
      const pictures = pages.filter((page) => page === "").length;
      this.scanned = pictures === 0 ? "no" : pictures < pages.length ? "partly" : "wholly";
    } catch (error) {
      if (!(error instanceof EngineFailure)) throw error;
    }
  }

  estimate = (provider: HostedProvider) => this.#pages * (this.#platform.hosted?.[provider]?.creditsPerPage ?? 0);

  /** @returns null when it did not do, and another one may */
  async ask(provider: DocumentProvider): Promise<ConvertedDocument | null> {
    const started = performance.now();
    const note = (outcome: ProviderStep["outcome"], reason?: string) =>
      this.#trace.push({
        provider,
        outcome,
        ...(reason ? { reason } : {}),
        milliseconds: Math.round(performance.now() - started),
      });
    try {
      const [result, creditsCharged] = isHosted(provider)
        ? await this.#runHosted(provider)
        : [provider === "ocr" ? await this.#runOcr() : await this.#runLocal(provider), 0];
      const isChosen = (this.#options.provider ?? "auto") !== "auto";
      // Plain text is what it is, and who names a provider takes what it finds.
      if (result.poor && !isChosen && provider !== "local_text") {
        note("poor", result.poor);
        return null;
      }
      note("used");
      return this.#finish(result, creditsCharged);
    } catch (error) {
      if (!(error instanceof EngineFailure)) throw error;
      note("failed", error.message);
      return null;
    }
  }

  refuse(code: Refusal): SvcError {
    const tried = this.#trace.map(({ provider, reason }) => `${provider}: ${reason}`).join(" ");
    if (code === "UNSUPPORTED") {
      return unsupported(`A document of type ${this.#kind}`, 'This provider does not take it. Use provider "auto".');
    }
    if (code === "UNAVAILABLE") {
      return new SvcError(code, tried || "This provider is not set up here.", {
        hint: 'Use provider "auto", or have the operator set it up: documents in svc.config.ts.',
      });
    }
    if (code === "DOCUMENT_COST_ABOVE_CAP") {
      return new SvcError(code, undefined, { hint: "Raise maxServiceCredits, or split the document." });
    }
    return new SvcError(code, tried ? `No local provider could convert this document. ${tried}` : undefined, {
      hint: "Allow hosted providers with paidFallback, or save the document in another format.",
    });
  }

  #runLocal(engine: "local_text" | "parser_a" | "parser_b"): Promise<EngineResult> {
    return this.#run({ engine, kind: this.#kind }, this.#bytes);
  }

  async #runHosted(provider: HostedProvider): Promise<[EngineResult, number]> {
    const endpoint = this.#platform.hosted?.[provider];
    if (!endpoint) throw new EngineFailure("It is not set up here.");
    const { credits = free, limits } = this.#platform;
    const amount = this.estimate(provider);
    const reservation = await credits.reserve(amount);
    let markdown: string;
    try {
      markdown = await convertHosted(endpoint, this.#bytes, this.#kind, this.#options.filename, limits?.signal);
    } catch (error) {
      await reservation.release();
      throw error;
    }
    await reservation.settle(amount);
    // What a model wrote is no safer than what a document holds.
    return [await this.#run({ engine: "clean", kind: "md" }, Buffer.from(markdown)), amount];
  }

  async #runOcr(): Promise<EngineResult> {
    const { pages } = this.#known ? { pages: this.#known } : await this.#runLocal("parser_b");
    // By name it is asked for all of them.
    const known = this.#options.provider === "ocr" ? pages.map(() => "") : pages;
    return recognise(this.#bytes, known, this.#platform.limits);
  }

  #run(task: Task, bytes: Buffer): Promise<EngineResult> {
    const { limits, children } = this.#platform;
    return runSandboxed(task, bytes, limits, children?.take());
  }

  #finish({ pages, warnings, poor, ...rest }: EngineResult, creditsCharged: number): ConvertedDocument {
    return {
      kind: this.#kind,
      ...rest,
      pages: pages.map((text, at): DocumentPage => ({ number: at + 1, markdown: text })),
      warnings: poor ? [...warnings, poor] : warnings,
      providerTrace: this.#trace,
      creditsCharged,
    };
  }
}
