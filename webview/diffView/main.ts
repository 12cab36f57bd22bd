/** The page that compares two traces: `<rl-trace-diff>` in the body is all that it needs. */
import '../l10n.js';
import './app.js';
