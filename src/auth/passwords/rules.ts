/** Validation rules for addresses, names and passwords. */
import { z } from "zod";
import { validate } from "../../contract/middleware.ts";
import { isStorableText } from "../../kit/storable-text.ts";
import { SvcError } from "../../kit/svc-error.ts";
import type { Library } from "../library-types.ts";

/** Text that PostgreSQL can store unchanged. */
export const text = (what: string) =>
  z.string(`${what} must be a text.`).refine(isStorableText, `${what} contains a character that cannot be stored.`);

export const email = text("The e-mail address")
  .transform((value) => value.trim().toLowerCase())
  .pipe(z.email("This is not an e-mail address.").max(254, "The e-mail address is longer than 254 characters."));

/** Whether a text shows anything: fillers and the blank Braille pattern count as letters and symbols in Unicode. */
export const isVisible = (value: string): boolean =>
  /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(value);

export const nameRule = text("The name")
  .transform((value) => value.trim())
  .pipe(
    z
      .string()
      .min(1, "The name is empty.")
      .max(200, "The name is longer than 200 characters.")
      .refine((value) => value === "" || isVisible(value), "The name has no visible characters."),
  );

/** Rules for a password that is only compared, and for one that is stored. Both are hashed in this form. */
export function passwordRules({ context }: Library) {
  const { minPasswordLength: min, maxPasswordLength: max } = context.password.config;
  const hashed = (value: string) => value.normalize("NFKC");
  const password = text("The password")
    // Some keyboards send é as two characters, and syllables of Korean as three. better-auth counts before it normalizes.
    .transform((value) => (value.length > max && value.length <= 3 * max ? hashed(value) : value))
    .refine((value) => value.length <= max, `The password is longer than ${max} characters.`);
  const newPassword = password.refine(
    // In both forms: some characters become many, and better-auth counts them before.
    (value) => value.length > max || Math.min(value.length, [...hashed(value)].length) >= min,
    `The password is shorter than ${min} characters.`,
  );
  return { password, newPassword };
}

/** @throws SvcError VALIDATION_FAILED */
export async function checked<T>(schema: z.ZodType<T>, input: unknown): Promise<T> {
  const result = await validate(schema, input);
  if (result.issues) throw new SvcError("VALIDATION_FAILED", undefined, { issues: result.issues });
  return result.value as T;
}
