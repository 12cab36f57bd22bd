/** The page of a webview. Knows nothing of VS Code. */
export interface PageParts {
  /** Address of `dist/webview` as the webview sees it. */
  readonly base: string;
  /** `webview.cspSource`. */
  readonly cspSource: string;
  readonly nonce: string;
  readonly language: string;
  readonly title: string;
  /** Translations of the page's texts, `vscode.l10n.bundle`; absent in English. */
  readonly bundle?: Readonly<Record<string, string>> | undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);

/** Data in a script element, which is not markup: nothing can end it, since JSON may spell `<` otherwise. */
const dataElement = (id: string, value: unknown): string => `<script type="application/json" id="${id}">${JSON.stringify(value).replaceAll('<', '\\u003c')}</script>\n`;

interface Content {
  /** Name of the script and the style sheet in `dist/webview`. */
  readonly script: string;
  readonly element: string;
  /** Kept by the page with `setState`, and found again by it after a reload of the window. */
  readonly data: { readonly name: string; readonly value: string };
  /** What the page may show of what it was given as bytes. */
  readonly shows: 'nothing' | 'images' | 'images and films';
}

/** No inline script or style, nothing from the network, nothing of the page's own but `dist/webview`. */
function webviewPage({ base, cspSource, nonce, language, title, bundle }: PageParts, { script, element, data, shows }: Content): string {
  const policy = ["default-src 'none'", `script-src 'nonce-${nonce}'`, `style-src ${cspSource}`, `font-src ${cspSource}`, `img-src ${cspSource}${shows === 'nothing' ? '' : ' blob:'}`, ...(shows === 'images and films' ? ['media-src blob:'] : [])].join('; ');
  return `<!DOCTYPE html>
<html lang="${escape(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" id="vscode-codicon-stylesheet" href="${escape(`${base}/codicons/codicon.css`)}">
<link rel="stylesheet" href="${escape(`${base}/${script}.css`)}">
<title>${escape(title)}</title>
</head>
<body>
<${element} data-${data.name}="${escape(data.value)}"></${element}>
${bundle ? dataElement('l10n-bundle', bundle) : ''}<script type="module" nonce="${nonce}" src="${escape(`${base}/${script}.js`)}"></script>
</body>
</html>
`;
}

/** `run`: see `RunViewState`. */
export const runViewPage = ({ run, ...parts }: PageParts & { readonly run: string }): string =>
  webviewPage(parts, { script: 'runView', element: 'rl-run-view', data: { name: 'run', value: run }, shows: 'images and films' });

/** `runs`: see `CompareViewState`. */
export const compareViewPage = ({ runs, ...parts }: PageParts & { readonly runs: string }): string =>
  webviewPage(parts, { script: 'compareView', element: 'rl-compare-view', data: { name: 'runs', value: runs }, shows: 'nothing' });

/** `trace`: see `TraceViewState`. */
export const traceViewPage = ({ trace, ...parts }: PageParts & { readonly trace: string }): string =>
  webviewPage(parts, { script: 'traceView', element: 'rl-trace-view', data: { name: 'trace', value: trace }, shows: 'images' });

/** `traces`: see `TraceDiffState`. */
export const traceDiffPage = ({ traces, ...parts }: PageParts & { readonly traces: string }): string =>
  webviewPage(parts, { script: 'diffView', element: 'rl-trace-diff', data: { name: 'traces', value: traces }, shows: 'images' });

/** `sandbox`: which one it is, for whoever looks at the page. */
export const monitorPage = ({ sandbox, ...parts }: PageParts & { readonly sandbox: string }): string =>
  webviewPage(parts, { script: 'monitor', element: 'rl-monitor', data: { name: 'sandbox', value: sandbox }, shows: 'nothing' });
