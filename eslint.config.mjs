// Besides the usual checks, keeps who may import whom: see ARCHITECTURE.md.
import tseslint from 'typescript-eslint';

/** A room, and what it may not import. */
const room = (files, forbidden, message) => ({
  files,
  rules: {
    'no-restricted-imports': ['error', { patterns: forbidden.map((regex) => ({ regex, message })) }],
  },
});

const ROOMS = ['template', 'sandbox', 'rollout', 'trace', 'store', 'engine', 'facade', 'runner', 'cli', 'extension', 'protocol'];
const SDKS = ['^dockerode$', '^docker-modem$', '^e2b$'];
/** Everything a room may not import: all rooms but its own and those named, `vscode`, and the providers' SDKs. */
const only = (own, allowed, { vscode = false, sdks = false } = {}) =>
  room(
    [`src/${own}/**/*.ts`],
    [
      ...ROOMS.filter((name) => name !== own && !allowed.includes(name)).map((name) => `^(\\.\\./)+(src/)?${name}/`),
      ...(vscode ? [] : ['^vscode$']),
      ...(sdks ? [] : SDKS),
    ],
    `src/${own} may import only ${allowed.length ? allowed.join(', ') : 'itself'}; see ARCHITECTURE.md.`,
  );

export default tseslint.config(
  { ignores: ['dist/', 'out/', 'node_modules/', '.rlenv/', '**/.rlenv/', '.vscode-test/', 'coverage/'] },
  { files: ['**/*.ts'], extends: [tseslint.configs.recommendedTypeChecked], languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } } },
  {
    files: ['**/*.ts'],
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      '@typescript-eslint/only-throw-error': 'off',
      'max-lines': ['error', { max: 500, skipBlankLines: true, skipComments: true }],
      eqeqeq: 'error',
    },
  },
  { files: ['test/**/*.ts', 'bench/**/*.ts'], rules: { '@typescript-eslint/no-floating-promises': 'error', '@typescript-eslint/no-unused-expressions': 'off' } },
  only('template', []),
  only('trace', []),
  only('sandbox', []),
  only('store', ['sandbox', 'template']),
  only('rollout', ['sandbox', 'trace', 'template', 'store']),
  only('protocol', ['store', 'template', 'trace']),
  only('engine', ['rollout', 'sandbox', 'trace', 'template', 'store', 'protocol']),
  only('runner', ['engine', 'protocol', 'sandbox', 'store', 'template', 'trace']),
  only('facade', ['engine', 'sandbox', 'store', 'template']),
  only('cli', ['facade', 'runner', 'engine', 'protocol', 'sandbox', 'store', 'template', 'trace']),
  only('extension', ['runner', 'protocol', 'template', 'store', 'sandbox', 'trace'], { vscode: true }),
  { ...only('sandbox', [], { sdks: true }), files: ['src/sandbox/docker/**/*.ts', 'src/sandbox/podman/**/*.ts', 'src/sandbox/e2b/**/*.ts'] },
  room(['webview/**/*.ts'], ['^vscode$', '^node:', '^(\\.\\./)+src/(?!protocol/)'], 'webview may import only src/protocol; see ARCHITECTURE.md.'),
);
