/** The source of a memory entry. Text of others is trusted less than the user's words. */
export const MEMORY_SOURCES = ["user", "tool", "web", "file", "agent"] as const;
export type MemorySource = (typeof MEMORY_SOURCES)[number];
