import { gymnasiumFolder } from '../../../scripts/setup/gymnasium.mjs';
import { skip } from '../../support/skip.js';
import { gymnasium } from '../policies/gymnasium.js';
import { Place } from '../policies/place.js';

gymnasium('Gymnasium in bubblewrap', async (suite) => {
  const { missing, found } = await gymnasiumFolder();
  if (missing !== undefined) skip(suite, missing);
  return Place.open('bubblewrap', `image: ${found}`);
});
