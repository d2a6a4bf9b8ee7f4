"""Many episodes on many processes: a plan, a pool on Ray, and what came of it as it comes.

Needs Ray: ``pip install 'sregym-env[ray]'``. On a cluster give ``RolloutPool`` its ``address``.
"""

from sregym_env.rollouts.plan import PolicyChoice, RunPlan, groups, named
from sregym_env.rollouts.ray import RolloutPool
from sregym_env.rollouts.statistics import summarise

# Four groups of two episodes; the members of a group begin in one state, as GRPO wants it.
plan = RunPlan.of(
    groups(named(["network_policy_block", "wrong_bin_usage"]), rounds=2, samples=2, seed=7),
    policy=PolicyChoice(name="random", options={"steps": 5}),
)
print(f"run {plan.run_id}: {len(plan.groups)} groups, {plan.episodes} episodes")

records = []
with RolloutPool(workers=2) as pool:
    for result in pool.map_unordered(plan):
        records += [rollout.record for rollout in result.rollouts]
        print(f"group {result.index}: returns {[rollout.record.return_ for rollout in result.rollouts]}")

(summary,) = summarise(records)
assert summary.episodes == 8
print(summary.row())
