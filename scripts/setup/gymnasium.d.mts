type Attempt = { readonly missing: string; readonly found?: undefined } | { readonly missing?: undefined; readonly found: string };
export function gymnasiumFolder(): Promise<Attempt>;
export function gymnasiumImage(host: string): Promise<Attempt>;
