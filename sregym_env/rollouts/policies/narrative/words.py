"""What an engineer says before acting: one short sentence per purpose, several ways each."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

AIMS: Mapping[str, tuple[str, ...]] = {
    "alerts": ("First the alerts.", "Let me see which alerts fire.", "I check what the monitoring says."),
    "users": (
        "I want to see what users see.",
        "Let me make a user's {journey} request myself.",
        "I try the {journey} request from outside.",
    ),
    "pods": ("Let me look at the pods.", "How are the pods?", "I list the pods to see who is not ready."),
    "events": ("What happened lately? The events may tell.", "I read the recent events.", "Let me look for warnings."),
    "nodes": ("Are the nodes in order?", "I make sure that the nodes are well.", "Let me rule out the nodes."),
    "entry": (
        "I begin where requests come in, with the log of {about}.",
        "What does {about} log? Every request passes it.",
        "Let me read the log of {about} first.",
    ),
    "top": ("Is anything short of CPU or memory?", "Let me see who uses how much.", "I check the resource usage."),
    "workloads": ("Do all workloads have their replicas?", "I look over the workloads.", "Let me list the workloads."),
    "endpoints": ("Does every Service have endpoints?", "I check the Services' endpoints.", "Let me see the endpoints."),
    "load": (
        "The load generator counts failures; let me read its log.",
        "I ask {about} how many requests fail.",
        "How bad is it for users? The log of {about} knows.",
    ),
    "passing": (
        "{via} calls {about}, so I follow the request to {about}.",
        "The next one on the way is {about}; what does it log?",
        "From {via} I go on to {about}.",
    ),
    "suspect": (
        "I suspect {about} and take a closer look at it.",
        "It might be {about}; let me check it.",
        "My first guess is {about}.",
    ),
    "suspect red": (
        "{about} is not ready, so I start with it.",
        "{about} is in trouble; I look there first.",
        "Since {about} is not ready, let me see why.",
    ),
    "suspect again": ("One more look at {about} before I judge it.", "I look at {about} from another side as well."),
    "close": (
        "{via} depends on {about}, so I look at {about}.",
        "Let me look closely at {about}, which {via} needs.",
        "The trail leads to {about}.",
    ),
    "close red": (
        "I look at {about}, which is not ready.",
        "Why is {about} not ready?",
        "{about} is the one to look at: it is not ready.",
    ),
    "close first": ("I look at {about}.", "Let me look closely at {about}.", "Now {about}."),
    "close again": ("I look at {about} from another side.", "More about {about}.", "That is not all I want to know of {about}."),
    "object": ("I check {about}.", "Let me look at {about}.", "Next I read {about}.", "What about {about}?"),
    "object elsewhere": (
        "How should it look? I read the same file in a neighbour that works.",
        "A neighbour runs the same image; let me compare its file.",
    ),
    "object inside": ("I look from inside the container.", "Let me look inside the container.", "What does it look like from inside?"),
    "diagnosis": (
        "That explains what I saw, and I hand in the diagnosis.",
        "I know the cause now and say so.",
        "This settles it; here is my diagnosis.",
        "Enough seen: this is the cause.",
    ),
    "repair": ("Now the repair: I {deed}.", "I {deed}.", "To mend it, I {deed}.", "The remedy: I {deed}."),
    "await": ("I wait until that is through.", "Let me wait for the rollout.", "Give it time to come up."),
    "restart": (
        "What gave up meanwhile must start anew: I {deed}.",
        "I {deed}, so that the change takes effect.",
        "Next I {deed}.",
    ),
    "settle": ("I give it a moment and look at the pods.", "Are the pods well now?", "A little patience, then the pods."),
    "settle again": ("Not yet. I wait a little longer.", "It needs more time.", "I look once more in a moment."),
    "verify": (
        "Pods that are ready prove nothing to users: I try the {journey} request.",
        "The test that counts: the {journey} request.",
        "Let me see whether users are served: {journey}.",
    ),
    "verify again": ("Not served yet; I wait and try again.", "I give it a little longer and try again."),
    "verify load": ("And what do the users' numbers say?", "Last, the load generator's own count."),
    "mitigation": (
        "The users are served again and the cause is gone; I hand in the repair.",
        "It works again. I hand it in.",
        "That was it: the repair is done.",
    ),
    "nothing": (
        "Users are served, the pods are ready and nothing points anywhere: I find no cause, and say so.",
        "Whatever it was, there is nothing left of it. I hand in that nothing is wrong.",
        "All of that is in order, so there is nothing to diagnose.",
    ),
    "unchanged": (
        "There is nothing to repair, so I leave everything as it is.",
        "I change nothing and hand it in like that.",
    ),
    "mitigation unsure": ("The repair is in and more I cannot do here; I hand it in.",),
}  # fmt: skip
"""By purpose."""

NOTHING_WRONG: tuple[str, ...] = (
    "Nothing is wrong: all pods are ready and all users are served.",
    "There is no fault. The application is healthy, and nothing has to be repaired.",
    "Nothing is wrong with the application; what was noticed has passed by itself.",
)
"""Diagnoses where there is no cause."""

WELL_AGAIN: tuple[str, ...] = (
    "All pods are ready.",
    "Every pod is ready again.",
    "The pods are all well now.",
)

NOT_YET: tuple[str, ...] = (
    "That does not show it yet.",
    "Not enough to go by.",
    "This alone does not explain it.",
)

TURNS_BACK: tuple[str, ...] = (
    "So {about} itself is well, and I turn back.",
    "Nothing here is the fault of {about}; I was on the wrong track.",
    "{about} is not the culprit. Back to the symptoms.",
)

ONLY_SUFFERS: tuple[str, ...] = (
    "That is not {about}'s own fault: it only suffers, and I go on.",
    "So {about} is a victim. The cause must lie behind it.",
    "{about} only reports what it meets elsewhere; I turn back.",
)


def say(aim: str, chance: Random, **named: str) -> str:
    """One way to say what an action is for. Ways that name what is not known are left out."""
    fitting = [
        way for way in AIMS[aim] if all(f"{{{key}}}" not in way or value for key, value in named.items())
    ]
    sentence = chance.choice(fitting or list(AIMS[aim][-1:])).format(**named)
    return _begun(sentence)


def turning_back(complains: bool, about: str, chance: Random) -> str:
    """What to say of an innocent component after a look at it: that it suffers, or that it is well."""
    return _begun(chance.choice(ONLY_SUFFERS if complains else TURNS_BACK).format(about=about))


def _begun(sentence: str) -> str:
    """With a capital, unless it begins with a name of its own."""
    return sentence if "-" in sentence.split()[0] else sentence[0].upper() + sentence[1:]
