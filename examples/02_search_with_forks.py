"""Try several repairs from the same moment: fork the environment, keep the branch that works."""

import gymnasium as gym

import sregym_env  # noqa: F401  (registers the environments)

env = gym.make("SREGym/wrong_bin_usage-v0", stage="mitigation").unwrapped
env.reset(seed=3)
env.step("kubectl describe deployment profile -n hotel-reservation")

WAIT = "kubectl rollout status deployment/profile -n hotel-reservation --timeout=120s"
RIGHT_COMMAND = (
    '[{"op": "replace", "path": "/spec/template/spec/containers/0/command", "value": ["profile"]}]'
)
CANDIDATES = {
    "restart it": "kubectl rollout restart deployment/profile -n hotel-reservation",
    "give it more memory": "kubectl set resources deployment/profile -n hotel-reservation --limits=memory=1Gi",
    "run the right binary": "kubectl patch deployment/profile -n hotel-reservation --type=json "
    f"-p='{RIGHT_COMMAND}'",
}

worked = {}
for name, command in CANDIDATES.items():
    branch = env.fork()
    branch.step(command)
    branch.step(WAIT)
    *_, info = branch.step("submit mitigation")
    worked[name] = info["is_success"]
    print(f"{name:22} {'works' if info['is_success'] else 'does not help'}")

assert worked == {"restart it": False, "give it more memory": False, "run the right binary": True}
