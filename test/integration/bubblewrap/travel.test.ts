import { Place } from '../policies/place.js';
import { travel } from '../policies/travel.js';

travel('back to a step in bubblewrap', () => Place.open('bubblewrap', ''));
