/** The trace view's page alone, in a real browser. */
import { traceViewPage } from '../../../src/extension/panels/html.js';
import { PageBrowser, type PageKind, type ViewOptions } from '../page.js';
import type { TraceStubOptions } from './stubHost.js';

const TRACE_VIEW: PageKind = {
  name: 'traceView',
  entry: 'webview/traceView/main.ts',
  stub: 'test/webview/traceView/stubHost.ts',
  html: (parts) => traceViewPage({ ...parts, trace: '{"file":"/workspace/trace.jsonl"}' }),
  ready: '.step-row:not(.loading)',
};

export type TraceOptions = ViewOptions & TraceStubOptions;
export type TraceViewBrowser = PageBrowser<TraceStubOptions>;
export const TraceViewBrowser = { launch: () => PageBrowser.launch<TraceStubOptions>(TRACE_VIEW) };
