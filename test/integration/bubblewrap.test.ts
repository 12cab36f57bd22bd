/** The bubblewrap provider, as whoever runs this: the suite that every provider passes. */
import { conformance } from './conformance.js';
import { asRoot, bubblewrapSubject } from './bubblewrap/subject.js';

conformance(asRoot ? 'bubblewrap as root' : 'bubblewrap as an ordinary user', bubblewrapSubject);
