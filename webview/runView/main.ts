/** The page of a run: `<rl-run-view>` in the body is all that it needs. */
import '../l10n.js';
import './app.js';
