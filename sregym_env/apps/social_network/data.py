"""What Social Network's front ends check of a request, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping


def check_timeline(given: Mapping[str, str]) -> str:
    """Who, from where, and how many."""
    complete = given.get("user_id") and given.get("start") and given.get("stop")
    return "" if complete else "Incomplete arguments"


def answer_timeline(given: Mapping[str, str]) -> str:
    """Nobody follows anybody before the social graph is filled: timelines are empty."""
    return "{}\n"


def check_post(given: Mapping[str, str]) -> str:
    """Who writes what."""
    complete = all(given.get(key) for key in ("user_id", "username", "post_type", "text"))
    return "" if complete else "Incomplete arguments"


def answer_post(given: Mapping[str, str]) -> str:
    """The post is taken."""
    return "Successfully upload post\n"


def check_user(given: Mapping[str, str]) -> str:
    """Names and a password."""
    complete = all(given.get(key) for key in ("first_name", "last_name", "username", "password", "user_id"))
    return "" if complete else "Incomplete arguments"


def answer_user(given: Mapping[str, str]) -> str:
    """The user is known from now on."""
    return "Success!\n"


def check_nothing(given: Mapping[str, str]) -> str:
    """Everything is right."""
    return ""


def answer_index(given: Mapping[str, str]) -> str:
    """The login page."""
    return "<!DOCTYPE html>\n<html><head><title>Social Network</title></head><body>Login</body></html>\n"


def answer_media(given: Mapping[str, str]) -> str:
    """A picture that is not there has no bytes."""
    return ""
