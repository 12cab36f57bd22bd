/** The page that compares two runs alone, in a real browser. */
import { compareViewPage } from '../../../src/extension/panels/html.js';
import { PageBrowser, type PageKind, type ViewOptions } from '../page.js';
import type { CompareStubOptions } from './stubHost.js';

const COMPARE_VIEW: PageKind = {
  name: 'compareView',
  entry: 'webview/compareView/main.ts',
  stub: 'test/webview/compareView/stubHost.ts',
  html: (parts) => compareViewPage({ ...parts, runs: '{"root":"/workspace","a":"run-3","b":"run-4"}' }),
  ready: '.pair-body .pair-row',
};

export type CompareOptions = ViewOptions & CompareStubOptions;
export type CompareViewBrowser = PageBrowser<CompareStubOptions>;
export const CompareViewBrowser = { launch: () => PageBrowser.launch<CompareStubOptions>(COMPARE_VIEW) };
