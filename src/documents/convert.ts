/**
 * Converts a document to Markdown. Detects its type, tries the providers of its route until one succeeds, and reports
 * which were tried. For hosted providers, which cost credits, credits are reserved before the call.
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
import type { EngineProcesses } from "./engine-processes.ts";
import { convertHosted, type HostedEndpoint } from "./hosted.ts";
import { hasOcr, recognise } from "./ocr.ts";
import { type HostedProvider, isHosted, type Refusal, type RouteInput, route } from "./routing.ts";
import { EngineFailure, EngineKilled, runSandboxed, type SandboxLimits } from "./sandbox.ts";
import { sniff } from "./sniff.ts";
import type { EngineResult, Task } from "./types.ts";

/** Reserves the possible cost of a paid call, so that concurrent calls cannot spend the same credits. */
export interface Credits {
  /** @throws SvcError when there are too few */
  reserve(amount: number): Promise<{
    /** Charges the actual cost and returns the rest. */
    settle(amount: number): Promise<unknown>;
    /** Returns all of it. */
    release(): Promise<void>;
  }>;
}

/** The platform's configuration. */
export interface Platform {
  /** Endpoints of hosted providers. (Default: none) */
  hosted?: { readonly [Name in HostedProvider]?: Readonly<HostedEndpoint> | undefined };
  /** The default cap of a conversion, in credits. (Default: 100) */
  defaultCap?: number;
  /** Pays for hosted providers. (Default: no accounting) */
  credits?: Credits;
  limits?: SandboxLimits;
  /** Supplies processes for engines, and takes those back that may have another document. (Default: each is started on demand) */
  children?: Pick<EngineProcesses, "take"> & Partial<Pick<EngineProcesses, "release">>;
  /** The largest document, in bytes. (Default: 52428800, 50 MiB) */
  largest?: number;
}

const free: Credits = { reserve: async () => ({ settle: async () => {}, release: async () => {} }) };

/**
 * @throws SvcError UNSUPPORTED_MEDIA_TYPE, DOCUMENT_UNREADABLE, DOCUMENT_ENCRYPTED, DOCUMENT_PAID_FALLBACK_REQUIRED,
 * DOCUMENT_COST_ABOVE_CAP, PAYLOAD_TOO_LARGE, UNAVAILABLE when a provider requested by name is missing or failed
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
    // Nobody is paid while a complete result is there, and the cap is for all that are paid together.
    const kept = isHosted(step) ? conversion.doubted() : null;
    if (!kept && isHosted(step) && conversion.spent + conversion.estimate(step) > cap) continue;
    const result = kept ?? (await conversion.ask(step));
    if (result) return result;
  }
  const doubted = conversion.doubted();
  if (doubted) return doubted;
  throw conversion.refuse(otherwise);
}

/** The conversion of one document, provider by provider. */
class Conversion {
  readonly #bytes: Buffer;
  readonly #kind: DocumentKind;
  readonly #options: ConvertOptions;
  readonly #platform: Platform;
  readonly #trace: ProviderStep[] = [];
  #pages: number;
  /** What the first parser makes of the document, which it reads at most once. */
  #first: Promise<EngineResult> | undefined;
  scanned: RouteInput["scanned"] = "no";
  /** A result of the first parser that another one may surpass. */
  #doubted: { result: EngineResult; step: ProviderStep } | undefined;
  /** Credits that hosted providers were paid, also for results that are not used. */
  spent = 0;

  constructor(bytes: Buffer, kind: DocumentKind, options: ConvertOptions, platform: Platform) {
    this.#bytes = bytes;
    this.#kind = kind;
    this.#options = options;
    this.#platform = platform;
    // An estimate until the pages are counted: 50 KiB a page is little for scans, and much for text.
    this.#pages = Math.ceil(bytes.length / 51_200);
  }

  /** Counts the pages of a PDF, and detects scanned pages. */
  async lookInside(): Promise<void> {
    try {
      const { pages } = await this.#runLocal("parser_a");
      this.#pages = Math.max(pages.length, 1);
      const pictures = pages.filter((page) => page === "").length;
      this.scanned = pictures === 0 ? "no" : pictures < pages.length ? "partly" : "wholly";
    } catch (error) {
      if (!(error instanceof EngineFailure)) throw error;
    }
  }

  estimate = (provider: HostedProvider) => this.#pages * (this.#platform.hosted?.[provider]?.creditsPerPage ?? 0);

  /** @returns null when it failed, and another provider may succeed */
  async ask(provider: DocumentProvider): Promise<ConvertedDocument | null> {
    const started = performance.now();
    const note = (outcome: ProviderStep["outcome"], reason?: string) => {
      const milliseconds = Math.round(performance.now() - started);
      const step: ProviderStep = { provider, outcome, ...(reason ? { reason } : {}), milliseconds };
      this.#trace.push(step);
      return step;
    };
    try {
      const result = isHosted(provider)
        ? await this.#runHosted(provider)
        : await (provider === "ocr" ? this.#runOcr() : this.#runLocal(provider));
      const isChosen = (this.#options.provider ?? "auto") !== "auto";
      // Plain text needs no better result, and a caller who names a provider takes its result.
      if (result.poor && !isChosen && provider !== "local_text") {
        note("poor", result.poor);
        return null;
      }
      if (result.doubt && !isChosen) {
        this.#doubted = { result, step: note("poor", result.doubt) };
        return null;
      }
      note("used");
      return this.#finish(result);
    } catch (error) {
      if (!(error instanceof EngineFailure)) throw error;
      note("failed", error.message);
      return null;
    }
  }

  /** The doubtful result, when no other provider has a better one. */
  doubted(): ConvertedDocument | null {
    if (!this.#doubted) return null;
    this.#doubted.step.outcome = "used";
    return this.#finish(this.#doubted.result);
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
    const read = () => this.#run({ engine, kind: this.#kind }, this.#bytes);
    if (engine !== "parser_a") return read();
    this.#first ??= read();
    return this.#first;
  }

  async #runHosted(provider: HostedProvider): Promise<EngineResult> {
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
    this.spent += amount;
    // Text from a model is as untrusted as a document.
    return this.#run({ engine: "clean", kind: "md" }, Buffer.from(markdown));
  }

  async #runOcr(): Promise<EngineResult> {
    const { pages } = await this.#runLocal("parser_a");
    // A caller who names OCR gets it for all pages.
    const known = this.#options.provider === "ocr" ? pages.map(() => "") : pages;
    const draw = (numbers: number[]) => this.#run({ engine: "pictures", kind: "pdf", numbers }, this.#bytes);
    return recognise(known, draw, this.#platform.limits?.signal);
  }

  async #run(task: Task, bytes: Buffer): Promise<EngineResult> {
    const { limits, children } = this.#platform;
    const run = () => runSandboxed(task, bytes, limits, children?.take(task), children?.release?.(task));
    return run().catch((error) => {
      // Once more: otherwise another provider, which may cost money, would take a document that this one can read.
      if (error instanceof EngineKilled) return run();
      throw error;
    });
  }

  #finish({ pages, warnings, poor, doubt: _, ...rest }: EngineResult): ConvertedDocument {
    return {
      kind: this.#kind,
      ...rest,
      pages: pages.map((text, at): DocumentPage => ({ number: at + 1, markdown: text })),
      warnings: poor ? [...warnings, poor] : warnings,
      providerTrace: this.#trace,
      creditsCharged: this.spent,
    };
  }
}
