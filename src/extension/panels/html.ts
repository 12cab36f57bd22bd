/** The page that holds the run view. Knows nothing of VS Code. */
export interface PageParts {
  /** Address of `dist/webview` as the webview sees it. */
  readonly base: string;
  /** `webview.cspSource`. */
  readonly cspSource: string;
  readonly nonce: string;
  readonly language: string;
  readonly title: string;
  /** Kept by the page with `setState`: see `RunViewState`. */
  readonly run: string;
  /** Translations of the page's texts, `vscode.l10n.bundle`; absent in English. */
  readonly bundle?: Readonly<Record<string, string>> | undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);

/** Data in a script element, which is not markup: nothing can end it, since JSON may spell `<` otherwise. */
const dataElement = (id: string, value: unknown): string => `<script type="application/json" id="${id}">${JSON.stringify(value).replaceAll('<', '\\u003c')}</script>\n`;

/** No inline script or style, nothing from the network, nothing of the page's own but `dist/webview`. */
export function runViewPage({ base, cspSource, nonce, language, title, run, bundle }: PageParts): string {
  const policy = ["default-src 'none'", `script-src 'nonce-${nonce}'`, `style-src ${cspSource}`, `font-src ${cspSource}`, `img-src ${cspSource}`].join('; ');
  return `<!DOCTYPE html>
<html lang="${escape(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" id="vscode-codicon-stylesheet" href="${escape(`${base}/codicons/codicon.css`)}">
<link rel="stylesheet" href="${escape(`${base}/runView.css`)}">
<title>${escape(title)}</title>
</head>
<body>
<rl-run-view data-run="${escape(run)}"></rl-run-view>
${bundle ? dataElement('l10n-bundle', bundle) : ''}<script type="module" nonce="${nonce}" src="${escape(`${base}/runView.js`)}"></script>
</body>
</html>
`;
}
