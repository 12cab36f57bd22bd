/**
 * The program that holds a Gymnasium environment inside the sandbox: requests in, answers out, each a line of JSON. Its own standard output is kept
 * for answers; what the environment prints goes to standard error. Only the standard library, Gymnasium, and NumPy where Gymnasium has it.
 */
export const PROGRAM = String.raw`
import base64, importlib, inspect, json, math, os, struct, sys, zlib

answers = os.fdopen(os.dup(1), 'w', encoding='utf-8', errors='backslashreplace')
os.dup2(2, 1)
sys.path.insert(0, os.getcwd())

def png(array):
    """A picture: uint8, height x width, or height x width x 1, 3 or 4."""
    if array.ndim == 2: array = array.reshape(array.shape + (1,))
    height, width, depth = array.shape
    rows = b''.join(b'\0' + array[y].tobytes() for y in range(height))
    def chunk(name, data): return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))
    header = struct.pack('>IIBBBBB', width, height, 8, {1: 0, 3: 2, 4: 6}[depth], 0, 0, 0)
    data = b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(rows, 6)) + chunk(b'IEND', b'')
    return {'$image': base64.b64encode(data).decode()}

def is_array(value): return hasattr(value, 'ndim') and hasattr(value, 'tolist') and hasattr(value, 'dtype')

def is_picture(value):
    if not is_array(value) or str(value.dtype) != 'uint8': return False
    if value.ndim == 3: return value.shape[2] in (1, 3, 4) and min(value.shape[:2]) >= 8
    return value.ndim == 2 and min(value.shape) >= 32

def plain(value, depth=0):
    """As JSON. What is not finite is text, as JSON has no word for it."""
    if depth > 20: return repr(value)
    if value is None or isinstance(value, (bool, str, int)): return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if is_picture(value): return png(value)
    if is_array(value): return plain(value.tolist(), depth + 1)
    if isinstance(value, dict): return {str(key): plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)): return [plain(each, depth + 1) for each in value]
    if isinstance(value, (bytes, bytearray)): return {'$base64': base64.b64encode(bytes(value)).decode()}
    if hasattr(value, 'item'): return plain(value.item(), depth + 1)
    return repr(value)[:1000]

def number(value):
    """A reward: NumPy's scalars, arrays of one element, and the rest that is a number."""
    if is_array(value): value = value.reshape(-1)[0] if value.size == 1 else value
    value = float(value)
    return value if math.isfinite(value) else str(value)

def truth(value): return bool(value.reshape(-1)[0]) if is_array(value) else bool(value)

def describe(space):
    kind = type(space).__name__
    out = {'type': kind}
    for name in ('n', 'start', 'nvec', 'min_length', 'max_length'):
        if hasattr(space, name) and not callable(getattr(space, name)): out[name] = plain(getattr(space, name))
    if kind == 'Box':
        out['shape'], out['dtype'] = list(space.shape), str(space.dtype)
        for name in ('low', 'high'):
            bound = getattr(space, name)
            out[name] = plain(bound.flat[0]) if (bound == bound.flat[0]).all() or bound.size > 256 else plain(bound)
    inner = getattr(space, 'spaces', None)
    if isinstance(inner, dict): out['spaces'] = {str(key): describe(each) for key, each in inner.items()}
    elif inner is not None: out['spaces'] = [describe(each) for each in inner]
    elif kind == 'Sequence': out['space'] = describe(space.feature_space)
    return out

def element(space, value):
    """JSON to an element of a space."""
    kind = type(space).__name__
    if kind == 'Discrete': return int(value)
    if kind in ('Box', 'MultiDiscrete', 'MultiBinary'):
        import numpy
        return numpy.asarray(value, dtype=space.dtype).reshape(space.shape)
    if kind == 'Dict': return {key: element(each, value[key]) for key, each in space.spaces.items()}
    if kind == 'Tuple': return tuple(element(each, one) for each, one in zip(space.spaces, value))
    return value

def make(name, kwargs, render, vector):
    constructor, gymnasium = None, None
    if ':' in name:
        module, attribute = name.split(':', 1)
        constructor = getattr(importlib.import_module(module), attribute, None)
    if constructor is None or vector: import gymnasium
    if render: kwargs = dict(kwargs, render_mode=render)
    if not vector: return constructor(**kwargs) if constructor else gymnasium.make(name, **kwargs)
    if constructor: return gymnasium.vector.SyncVectorEnv([lambda: constructor(**kwargs)] * vector)
    return gymnasium.make_vec(name, num_envs=vector, vectorization_mode='sync', **kwargs)

def reset(env, seed):
    """Also of the API before 0.26, which had no seed here and gave no info."""
    try: known = inspect.signature(env.reset).parameters
    except (TypeError, ValueError): known = {'seed': None}
    takes = 'seed' in known or any(each.kind == inspect.Parameter.VAR_KEYWORD for each in known.values() if each is not None)
    if not takes and hasattr(env, 'seed'): env.seed(seed)
    given = env.reset(seed=seed) if takes else env.reset()
    return given if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], dict) else (given, {})

def step(env, action):
    given = env.step(action)
    if len(given) == 5: return given
    observation, reward, done, info = given
    truncated = bool(info.get('TimeLimit.truncated', False))
    return observation, reward, truth(done) and not truncated, truncated, info

def frames(env, render):
    if not render: return []
    given = env.render()
    given = given if isinstance(given, (list, tuple)) and not isinstance(given, str) else [given]
    return [png(each) if is_picture(each) or is_array(each) and each.ndim == 3 else str(each) for each in given if each is not None]

def lane(value, index):
    """One environment's part of what a vector of them gave."""
    if isinstance(value, dict): return {key: lane(each, index) for key, each in value.items()}
    if isinstance(value, tuple): return tuple(lane(each, index) for each in value)
    return value[index]

def lane_info(infos, index, count):
    """Infos of a vector are arrays, with a mask under '_' + key of those environments that gave one."""
    out = {}
    for key, value in infos.items():
        mask = infos.get('_' + key)
        if key.startswith('_') or mask is not None and not mask[index]: continue
        if isinstance(value, dict): out[key] = lane_info(value, index, count)
        elif hasattr(value, '__len__') and not isinstance(value, str) and len(value) == count: out[key] = value[index]
        else: out[key] = value
    return out

env, settings = None, {}

def unroll(actions, given):
    observations, rewards, terminated, truncated, infos = given
    count = settings['vector']
    out = []
    for index in range(count):
        ended = truth(terminated[index]) or truth(truncated[index])
        info = lane_info(infos, index, count)
        observation = lane(observations, index)
        for name in ('final_obs', 'final_observation'):
            if ended and info.get(name) is not None: observation = info.pop(name)
        for name in ('final_info',):
            if ended and isinstance(info.get(name), dict): info.update(info.pop(name))
        out.append({'action': plain(lane(actions, index)), 'observation': plain(observation), 'reward': number(rewards[index]), 'terminated': truth(terminated[index]), 'truncated': truth(truncated[index]), 'info': plain(info), 'frames': []})
    return out

def handle(request):
    global env, settings
    op = request['op']
    if op == 'make':
        settings = request
        env = make(request['env'], request['kwargs'], request['render'], request['vector'])
        env.action_space.seed(request['seed'])
        space = getattr(env, 'single_action_space', env.action_space) if request['vector'] else env.action_space
        seen = getattr(env, 'single_observation_space', env.observation_space) if request['vector'] else env.observation_space
        return {'action': describe(space), 'observation': describe(seen)}
    if op == 'reset':
        observation, info = reset(env, request['seed'])
        if not settings['vector']: return [{'observation': plain(observation), 'info': plain(info), 'frames': frames(env, settings['render'])}]
        return [{'observation': plain(lane(observation, index)), 'info': plain(lane_info(info, index, settings['vector'])), 'frames': []} for index in range(settings['vector'])]
    if op == 'step':
        if settings['vector']:
            if request.get('random'): actions = env.action_space.sample()
            else:
                from gymnasium.vector.utils import concatenate, create_empty_array
                one = element(env.single_action_space, request['action'])
                actions = concatenate(env.single_action_space, [one] * settings['vector'], create_empty_array(env.single_action_space, settings['vector']))
            return unroll(actions, env.step(actions))
        action = env.action_space.sample() if request.get('random') else element(env.action_space, request['action'])
        observation, reward, terminated, truncated, info = step(env, action)
        return [{'action': plain(action), 'observation': plain(observation), 'reward': number(reward), 'terminated': truth(terminated), 'truncated': truth(truncated), 'info': plain(info), 'frames': frames(env, settings['render'])}]
    if op == 'close':
        env.close()
        return None

for line in sys.stdin:
    request = json.loads(line)
    try: answer = {'ok': handle(request)}
    except Exception as error:
        import traceback
        traceback.print_exc()
        answer = {'error': type(error).__name__ + ': ' + (str(error).strip().split('\n') or [''])[0][:500]}
    json.dump(answer, answers, allow_nan=False)
    answers.write('\n')
    answers.flush()
    if request['op'] == 'close': break
`;
