/** Amounts as this desk writes them. */
const form = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2 });

export const money = (cents: number) => form.format(cents / 100);
