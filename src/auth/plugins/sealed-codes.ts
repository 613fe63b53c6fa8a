/**
 * Encrypts the codes that plugins store as plain text, such as those of `phoneNumber`: a reader of the database cannot use them.
 * The plugins compare them as text, so a hash would not do.
 * Called by `../create-sign-in.ts`.
 */
import { symmetricDecrypt, symmetricEncrypt } from "better-auth/crypto";
import type { Library } from "../library-types.ts";

/** A code, and how often it was tried. */
const counted = /^\d{4,}:\d+$/;

/**
 * `/sign-in/phone-number` stores its code without a count, under the number alone. Other values of digits may be the ids of users, by
 * which svc searches.
 */
const isCode = (identifier: string, value = ""): boolean =>
  counted.test(value) || (/^\d{4,}$/.test(value) && !/\p{L}/u.test(identifier));

/** Before a code that is encrypted. */
const mark = "svc:";

export function sealCodes({ context: { internalAdapter, secretConfig: key } }: Pick<Library, "context">): void {
  const { createVerificationValue, updateVerificationByIdentifier, findVerificationValue, consumeVerificationValue } =
    internalAdapter;
  const seal = async <Data extends { value?: string }>(identifier: string, data: Data): Promise<Data> =>
    isCode(identifier, data.value)
      ? { ...data, value: mark + (await symmetricEncrypt({ key, data: data.value ?? "" })) }
      : data;
  const open = async <Row extends { value: string } | null>(row: Row): Promise<Row> =>
    row?.value.startsWith(mark)
      ? { ...row, value: await symmetricDecrypt({ key, data: row.value.slice(mark.length) }) }
      : row;

  internalAdapter.createVerificationValue = async (data) =>
    open(await createVerificationValue(await seal(data.identifier, data)));
  internalAdapter.updateVerificationByIdentifier = async (identifier, data) =>
    open(await updateVerificationByIdentifier(identifier, await seal(identifier, data)));
  internalAdapter.findVerificationValue = async (identifier) => open(await findVerificationValue(identifier));
  internalAdapter.consumeVerificationValue = async (identifier) => open(await consumeVerificationValue(identifier));
}
