/** Takes the translations that the extension has put into the page, if there are any. Imported before anything that has texts. */
import * as l10n from '@vscode/l10n';

const bundle = document.getElementById('l10n-bundle')?.textContent;
if (bundle) l10n.config({ contents: bundle });
