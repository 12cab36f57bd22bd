export function withLock<T>(folder: string, work: () => Promise<T>, timeoutMs?: number): Promise<T>;
