/** The page that compares two runs: `<rl-compare-view>` in the body is all that it needs. */
import '../l10n.js';
import './app.js';
