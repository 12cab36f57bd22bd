/** What a first template says. It runs as it is on every provider. */
export const newTemplate = (name: string): string => `# An environment of RL Sandboxes: it is set up once, and every episode begins from what the set-up left.
name: ${name}

setup:
  - run: echo 'guess a number' > /task.txt

episode:
  # RL_SEED is the episode's seed: the same seed must give the same episode.
  run: |
    test -f /task.txt
    echo "$(( (RL_SEED * 37) % 100 ))" | sed 's/^\\(.\\)$/0\\1/; s/^/0./'
  timeout: 30s
  seeds: 32

# The last line of what the episode prints.
reward: stdout
reward_range: [0, 1]
`;
