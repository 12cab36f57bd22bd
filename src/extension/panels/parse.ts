/** What a webview sends is taken for hostile: only what matches its protocol gets through. Knows nothing of VS Code. */
type Plain = Record<string, unknown>;

const LONGEST_TEXT = 4096;

export const isPlain = (value: unknown): value is Plain => typeof value === 'object' && value !== null && !Array.isArray(value);
export const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
export const isText = (value: unknown, longest = LONGEST_TEXT): value is string => typeof value === 'string' && value.length <= longest;
export const isOneOf = <T>(value: unknown, known: readonly T[]): value is T => known.includes(value as T);
export const isNothing = (value: unknown): boolean => value === undefined || value === null;

/** Requests by name, each with its parameters and its result. */
export type RequestMap<R> = { readonly [K in keyof R]: { params: unknown; result: unknown } };
/** One check for each request, or it does not compile. */
export type Checks<R extends RequestMap<R>> = { readonly [K in keyof R]: (params: unknown) => boolean };
export type Message<R extends RequestMap<R>> = { [K in keyof R]: { readonly id: number; readonly method: K; readonly params: R[K]['params'] } }[keyof R];
/** `id` of what is refused, where it has one, so that it can be answered. */
export type Parsed<R extends RequestMap<R>> = { readonly ok: true; readonly message: Message<R> } | { readonly ok: false; readonly id?: number };

export const messageParser =
  <R extends RequestMap<R>>(checks: Checks<R>) =>
  (value: unknown): Parsed<R> => {
    if (!isPlain(value)) return { ok: false };
    const { id, method, params } = value;
    if (!isCount(id)) return { ok: false };
    if (typeof method !== 'string' || !Object.hasOwn(checks, method)) return { ok: false, id };
    return checks[method as keyof R](params) ? { ok: true, message: { id, method, params } as Message<R> } : { ok: false, id };
  };
