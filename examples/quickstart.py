"""Steps 64 robots among obstacles with random actions: the first example of the README."""

import gymnasium as gym

import mvsim_gym  # noqa: F401  (registers the environments)

envs = gym.make_vec("mvsim/NavArena-v0", num_envs=64)
observation, info = envs.reset(seed=0)
for _ in range(1000):
    observation, reward, terminated, truncated, info = envs.step(envs.action_space.sample())
print({key: value.shape for key, value in observation.items()}, "mean reward", reward.mean())
envs.close()
