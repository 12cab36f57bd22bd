import { comparesSnapshots } from '../compare.js';

comparesSnapshots('bubblewrap', () => Promise.resolve({}));
