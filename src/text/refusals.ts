/** The errors of conversions, each with a remedy. */
import { SvcError } from "../kit/svc-error.ts";

export const unreadable = (message: string, cause?: unknown) =>
  new SvcError("DOCUMENT_UNREADABLE", message, {
    hint: "Open the file in the program that made it, and save it again.",
    cause,
  });

export const encrypted = () =>
  new SvcError("DOCUMENT_ENCRYPTED", "The document is protected with a password.", {
    hint: "Save it without a password, and convert that.",
  });

export const unsupported = (what: string, instead: string) =>
  new SvcError("UNSUPPORTED_MEDIA_TYPE", `${what} cannot be converted.`, { hint: instead });
