export const ADDON: readonly string[];
export const HEADERS: string | undefined;
