/** The page of a sandbox's use of the machine: `<rl-monitor>` in the body is all that it needs. */
import '../l10n.js';
import './app.js';
