/** Document conversion as workflows see it. `src/documents/convert-stored.ts` implements it. */

/** The document formats that svc converts. */
export type DocumentKind = "pdf" | "hwp" | "hwpx" | "hwpml" | "docx" | "xlsx" | "txt" | "md" | "html" | "csv";

/** The providers of conversion: this machine (the first four), or an endpoint that the platform configured. */
export const providers = [
  "local_text",
  "parser_a",
  "parser_b",
  "ocr",
  "custom_vlm",
  "hosted_ai_a",
  "hosted_ai_b",
] as const;

export type DocumentProvider = (typeof providers)[number];

export type ConvertMode = "force-ocr" | "force-external";

/** The options of a conversion, without the bytes. */
export interface ConvertOptions {
  /** File name: tells the format if the content does not. (Default: none) */
  filename?: string;
  /** Media type: for the same purpose as `filename`. (Default: none) */
  mimeType?: string;
  /** `force-ocr`: scanned content goes to OCR. `force-external`: skips the local providers. (Default: neither) */
  mode?: ConvertMode;
  /** A provider by name replaces the choice of `auto`. (Default: "auto") */
  provider?: "auto" | DocumentProvider;
  /** Whether hosted providers may be used when the local ones fail. (Default: false) */
  paidFallback?: boolean;
  /** The maximum cost of this conversion, in credits. (Default: the platform's) */
  maxServiceCredits?: number;
}

export interface DocumentPage {
  /** Starts at 1. */
  number: number;
  markdown: string;
}

export interface DocumentSection {
  /** 1 to 6. */
  level: number;
  title: string;
  /** Start of its heading in `markdown`, in UTF-16 units. */
  offset: number;
}

/** One provider that was tried or skipped, and the reason if it was not used. */
export interface ProviderStep {
  provider: DocumentProvider;
  outcome: "used" | "failed" | "poor" | "unavailable";
  /** One sentence; absent if the provider was used. */
  reason?: string;
  milliseconds: number;
}

export interface ConvertedDocument {
  kind: DocumentKind;
  markdown: string;
  /** The same text without Markdown syntax. */
  text: string;
  /** Pages or sheets; empty for formats without pages. */
  pages: DocumentPage[];
  sections: DocumentSection[];
  /** What was omitted or guessed, one sentence each. */
  warnings: string[];
  providerTrace: ProviderStep[];
  /** The cost of hosted providers; 0 for local ones. */
  creditsCharged: number;
}

export interface ConvertStoredInput extends ConvertOptions {
  /** A file that the run's user may read. */
  storageId: string;
  /** The target corpus. Accepted for compatibility with the contract; it does not change the conversion. (Default: none) */
  corpus?: string;
  visibility?: string;
}
