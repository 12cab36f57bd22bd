/** The page that compares two traces alone, in a real browser. */
import { traceDiffPage } from '../../../src/extension/panels/html.js';
import { PageBrowser, type PageKind, type ViewOptions } from '../page.js';
import type { DiffStubOptions } from './stubHost.js';

const DIFF_VIEW: PageKind = {
  name: 'diffView',
  entry: 'webview/diffView/main.ts',
  stub: 'test/webview/diffView/stubHost.ts',
  html: (parts) => traceDiffPage({ ...parts, traces: '{"a":{"file":"/workspace/a.jsonl"},"b":{"file":"/workspace/b.jsonl"}}' }),
  ready: '.diff-row',
};

export type DiffOptions = ViewOptions & DiffStubOptions;
export type DiffViewBrowser = PageBrowser<DiffStubOptions>;
export const DiffViewBrowser = { launch: () => PageBrowser.launch<DiffStubOptions>(DIFF_VIEW) };
