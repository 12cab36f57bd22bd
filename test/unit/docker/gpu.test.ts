import { strict as assert } from 'node:assert';
import { LimitExceeded, Unsupported } from '../../../src/sandbox/errors.js';
import { checkVisible } from '../../../src/sandbox/docker/gpu.js';

const TWO = 'GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5c1c0f0a-1111)\nGPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-5c1c0f0a-2222)\n';
const MIG = 'GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n  MIG 1g.5gb Device 0: (UUID: MIG-1)\n';

describe('docker GPU check', () => {
  it('is content with as many as were asked for', () => {
    for (const count of [1, 2, 'all'] as const) checkVisible(TWO, { count });
    checkVisible('/dev/nvidia0\n/dev/nvidia1\n', { count: 2 });
    checkVisible(MIG, { count: 1 });
    checkVisible(TWO, { count: 2, model: 'a100' });
    checkVisible(TWO, { count: 'all', model: 'A100' });
  });

  it('refuses none at all, whatever else is printed', () => {
    for (const seen of ['', '\n', 'No devices were found\n', 'NVIDIA-SMI has failed because it could not communicate\n', '/dev/nvidiactl\n', 'GPU 0 is missing\n'])
      assert.throws(() => checkVisible(seen, { count: 1 }), (error: Error) => error instanceof Unsupported && /none is visible/.test(error.message), seen);
  });

  it('refuses too few, and another model', () => {
    assert.throws(() => checkVisible(TWO, { count: 4 }), (error: Error) => error instanceof LimitExceeded && /4 GPUs were asked for, and 2 are visible/.test(error.message));
    assert.throws(() => checkVisible(TWO, { count: 1, model: 'H100' }), (error: Error) => error instanceof LimitExceeded && /H100 was asked for, and the sandbox sees NVIDIA A100/.test(error.message));
    assert.throws(() => checkVisible('/dev/nvidia0\n', { count: 1, model: 'A100' }), /no nvidia-smi/);
  });
});
