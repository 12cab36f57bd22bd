/** The page of a trace: `<rl-trace-view>` in the body is all that it needs. */
import '../l10n.js';
import './app.js';
