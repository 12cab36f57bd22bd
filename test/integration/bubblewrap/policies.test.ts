import { policies } from '../policies/policies.js';
import { Place } from '../policies/place.js';

policies('policies in bubblewrap', () => Place.open('bubblewrap', ''));
