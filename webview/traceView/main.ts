/** The page of a trace: `<rl-trace-view>` in the body is all that it needs. */
import * as l10n from '@vscode/l10n';
import './app.js';

// The extension puts the translations, if there are any, into the page. Elements render after this script has run, so it is not too late.
const bundle = document.getElementById('l10n-bundle')?.textContent;
if (bundle) l10n.config({ contents: bundle });
