/** Exports of src/ that no other file imports. */
export function unusedExports(root: string): { readonly file: string; readonly name: string }[];
