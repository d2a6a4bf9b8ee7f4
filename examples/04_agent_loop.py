"""An agent loop around any chat model: here a scripted stand-in answers instead of a model server.

Replace ``model`` by a call to your endpoint; the messages and the tool schemas are the usual ones.
"""

import json
from typing import Any

import gymnasium as gym

import sregym_env  # noqa: F401  (registers the environments)


def model(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Stands in for a chat-completion endpoint: returns one assistant message with one tool call."""
    assert any(tool["function"]["name"] == "kubectl" for tool in tools)
    turn = sum(message["role"] == "assistant" for message in messages)
    script: list[tuple[str, dict[str, Any]]] = [
        ("kubectl", {"command": "get deployments -n hotel-reservation"}),
        ("kubectl", {"command": "get pods -n hotel-reservation -l app=mongodb-rate"}),
        (
            "submit_diagnosis",
            {"text": "The memory limit of mongodb-rate (25Mi) is too low: it is OOMKilled."},
        ),
        (
            "shell",
            {
                "command": "kubectl set resources deployment mongodb-rate -n hotel-reservation "
                "--requests=memory=384Mi --limits=memory=768Mi && "
                "kubectl rollout status deployment/mongodb-rate -n hotel-reservation"
            },
        ),
        ("submit_mitigation", {}),
    ]
    name, arguments = script[min(turn, len(script) - 1)]
    call = {
        "id": f"call-{turn}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    return {"role": "assistant", "content": None, "tool_calls": [call]}


env = gym.make("SREGym/resource_request_too_small-v0")
observation, info = env.reset(seed=1)
tools = env.unwrapped.tools(format="openai")
messages: list[dict[str, Any]] = [{"role": "user", "content": observation}]

terminated = truncated = False
while not (terminated or truncated):
    reply = model(messages, tools)
    call = reply["tool_calls"][0]
    observation, reward, terminated, truncated, info = env.step(json.dumps(call))
    messages += [reply, {"role": "tool", "tool_call_id": call["id"], "content": observation}]
    print(f"> {call['function']['name']} {call['function']['arguments']}\n{observation}\n")

print(f"reward {reward:.2f}: mitigation {info['Mitigation']}, diagnosis {info['Diagnosis']}")
assert info["is_success"]
