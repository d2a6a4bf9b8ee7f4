"""Play one incident by hand: look, diagnose, repair, hand in."""

import gymnasium as gym

import sregym_env  # noqa: F401  (registers the environments)

# Every seed is a world of its own, so what is typed suits this one.
env = gym.make("SREGym/wrong_service_selector_hotel_reservation-v0")
observation, info = env.reset(seed=7)
print(observation, "\n")

NAMESPACE = "-n hotel-reservation"
REMOVE_LABEL = '[{"op": "remove", "path": "/spec/selector/k8s-app"}]'
ACTIONS = [
    f"kubectl get endpoints frontend {NAMESPACE}",
    f"kubectl get service frontend {NAMESPACE} -o jsonpath='{{.spec.selector}}'",
    f"kubectl get pods {NAMESPACE} -l k8s-app=hotel",
    "submit diagnosis --component frontend --kind Service --name frontend --mechanism wrong_selector "
    "--field spec.selector --value k8s-app=hotel --because 'no pod has that label, so the Service has no endpoints'",
    f"kubectl patch service frontend {NAMESPACE} --type=json -p='{REMOVE_LABEL}'",
    f"kubectl get endpoints frontend {NAMESPACE}",
    "submit mitigation",
]

for action in ACTIONS:
    observation, reward, terminated, truncated, info = env.step(action)
    print(f"$ {action}\n{observation}")

print(f"reward {reward:.2f}, success: {info['is_success']}")
assert terminated
assert info["is_success"]
env.close()
