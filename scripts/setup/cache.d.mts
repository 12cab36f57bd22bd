export function cacheFolder(...names: readonly string[]): string;
