/** Document conversion as workflows see it. `src/documents/convert-stored.ts` implements it. */

/** The kinds of documents that are converted. */
export type DocumentKind = "pdf" | "hwp" | "hwpx" | "hwpml" | "docx" | "xlsx" | "txt" | "md" | "html" | "csv";

/** Who converts: this machine (the first four), or an endpoint that the platform configured. */
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

/** What a conversion is asked for, apart from the bytes. */
export interface ConvertOptions {
  /** Names the kind where the content does not. (Default: none) */
  filename?: string;
  /** As `filename`. (Default: none) */
  mimeType?: string;
  /** `force-ocr`: scanned content goes to OCR. `force-external`: no local provider is asked. (Default: neither) */
  mode?: ConvertMode;
  /** A provider by name is asked whatever `auto` would have chosen. (Default: "auto") */
  provider?: "auto" | DocumentProvider;
  /** Whether hosted providers may be asked when the local ones do not do. (Default: false) */
  paidFallback?: boolean;
  /** The most that this conversion may cost, in credits. (Default: the platform's) */
  maxServiceCredits?: number;
}

export interface DocumentPage {
  /** From 1. */
  number: number;
  markdown: string;
}

export interface DocumentSection {
  /** 1 to 6. */
  level: number;
  title: string;
  /** Where its heading begins in `markdown`, in UTF-16 units. */
  offset: number;
}

/** One provider that was asked, or passed over, and why it did not do. */
export interface ProviderStep {
  provider: DocumentProvider;
  outcome: "used" | "failed" | "poor" | "unavailable";
  /** One sentence, unless it was used. */
  reason?: string;
  milliseconds: number;
}

export interface ConvertedDocument {
  kind: DocumentKind;
  markdown: string;
  /** The same without Markdown's signs. */
  text: string;
  /** Pages, or sheets; empty where the format has none. */
  pages: DocumentPage[];
  sections: DocumentSection[];
  /** What was left out or guessed, one sentence each. */
  warnings: string[];
  providerTrace: ProviderStep[];
  /** What hosted providers cost; 0 for local ones. */
  creditsCharged: number;
}

export interface ConvertStoredInput extends ConvertOptions {
  /** A file that the run's user may read. */
  storageId: string;
  /** Where the text is meant to go. Taken for the contract; the conversion is the same for every corpus. (Default: none) */
  corpus?: string;
  visibility?: string;
}
