"""Play one episode with a fixed script: look around, say what is wrong, repair."""

import gymnasium as gym

import sregym_env  # noqa: F401 - registers the environments


def main() -> None:
    """Three looks, a diagnosis, a repair."""
    env = gym.make("SREGym/network_policy_block-v0")
    observation, info = env.reset(seed=7)
    print(observation)
    for action in (
        "kubectl get pods -n hotel-reservation",
        "kubectl get networkpolicies -n hotel-reservation -o yaml",
        "alerts",
        'submit diagnosis "A NetworkPolicy denies all traffic to and from recommendation."',
        "kubectl delete networkpolicy --all -n hotel-reservation",
        "submit mitigation",
    ):
        observation, reward, _terminated, _truncated, info = env.step(action)
        print(f"\n$ {action}\n{observation}")
    print(f"reward {reward}, diagnosis {info['Diagnosis']}, mitigation {info['Mitigation']}")


if __name__ == "__main__":
    main()
