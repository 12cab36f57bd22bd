import { comparesSnapshots } from '../compare.js';
import { dockerSubject } from './subject.js';

comparesSnapshots('docker', async () => ({ ...(await dockerSubject()), bySizeAndTime: true }));
