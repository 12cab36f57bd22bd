// Bundles everything into dist/: the extension (CommonJS, as VS Code loads it), the command line and the runner (ES modules that share
// chunks, so that a provider's SDK is loaded on first use), and one bundle for each webview.
import { build, context } from 'esbuild';
import { cp, mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const watch = process.argv.includes('--watch');
const common = { bundle: true, sourcemap: 'linked', sourcesContent: false, minify: !watch, keepNames: true, logLevel: 'warning' };

const targets = [
  {
    ...common,
    entryPoints: { cli: 'src/cli/main.ts', runner: 'src/runner/main.ts' },
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    splitting: true,
    // dockerode's transport loads ssh2 at start; ssh endpoints go through `docker system dial-stdio` instead.
    // E2B's SDK names its ES module only as `module`, which is not looked at for Node; of the other one a dynamic import gives no names.
    alias: { ssh2: './scripts/no-ssh2.cjs', e2b: './node_modules/e2b/dist/index.mjs' },
    external: ['cpu-features'],
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
  },
  {
    ...common,
    // Language features are loaded with the first template: YAML and the schema are most of their size.
    entryPoints: { extension: 'src/extension/activate.ts', language: 'src/extension/language/index.ts' },
    outdir: 'dist',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    // The language features take only the providers' capabilities from the registry, never their code.
    external: ['vscode', '*/bubblewrap/index.js', '*/docker/index.js', '*/podman/index.js', '*/e2b/index.js', '*/beam/index.js'],
  },
  {
    ...common,
    entryPoints: { runView: 'webview/runView/main.ts', compareView: 'webview/compareView/main.ts', monitor: 'webview/monitor/main.ts' },
    outdir: 'dist/webview',
    platform: 'browser',
    target: 'chrome124',
    format: 'esm',
    loader: { '.ttf': 'file', '.svg': 'file' },
    assetNames: '[name]',
  },
  {
    ...common,
    entryPoints: { traceView: 'webview/traceView/main.ts', diffView: 'webview/diffView/main.ts' },
    outdir: 'dist/webview',
    // Markdown and code are read by parsers that are loaded with the first text that needs them.
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    platform: 'browser',
    target: 'chrome124',
    format: 'esm',
  },
];

await rm('dist', { recursive: true, force: true });
await mkdir('dist/webview', { recursive: true });
await cp('node_modules/@vscode/codicons/dist', 'dist/webview/codicons', { recursive: true, filter: (file) => !/\.(html|csv|svg|json|ts)$/.test(file) });
if (watch) await Promise.all(targets.map(async (target) => (await context(target)).watch()));
else await Promise.all(targets.map((target) => build(target)));
