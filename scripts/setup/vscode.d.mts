export interface VsCodeServer {
  readonly node: string;
  readonly serverMain: string;
}
export function findVsCode(): Promise<VsCodeServer | undefined>;
export function ensureVsCode(): Promise<VsCodeServer | { readonly missing: string }>;
export function canDownloadVsCode(): Promise<boolean>;
