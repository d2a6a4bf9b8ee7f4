"""Try several repairs from one state: forks are cheap, so search is."""

from sregym_env import SREGymEnv

REPAIRS = (
    "kubectl rollout restart deployment -n hotel-reservation",
    "kubectl delete pods --all -n hotel-reservation --wait=false",
    "kubectl delete networkpolicies --all -n hotel-reservation",
)


def main() -> None:
    """Fork, try, hand in, compare."""
    env = SREGymEnv("network_policy_block", stage="mitigation")
    env.reset(seed=7)
    for repair in REPAIRS:
        trial = env.fork()
        trial.step(repair)
        _, reward, _, _, info = trial.step("submit mitigation")
        print(f"{reward:.1f}  {repair}  ({info['sim_time_s']:.0f} s of the cluster's time)")


if __name__ == "__main__":
    main()
