"""L18: a child's requests carry the model that was asked for."""

from __future__ import annotations

from collections.abc import Iterable

from runs.core.agents import Agent
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds
from runs.core.model_names import UNSAID, same_model, says_model


class ModelAsAsked(Law):
    """Compares the model in each request of a child with the one in its spawn."""

    id = "L18"
    name = "MODEL-AS-ASKED"
    sentence = (
        "Each request of a child carries the model and parameters that were asked for, or an "
        "explicit substitution event."
    )
    why = "Another model than the page names makes every other figure about it worthless."
    detected = (
        "The model of the child's requests against the one in its start or spawn record, and of "
        "its start record against the one that the spawn names. Of its answers too, where the "
        "first of them repeats the name that was asked for."
    )
    needs = "A model in the spawn record, and in the start record, the requests or the answers."
    labels = ("model_substituted",)
    follows = ("L10", "L2")

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        for agent in history.children:
            finding = self._judge(history, agent)
            if finding is not None:
                yield finding

    def _judge(self, history: History, agent: Agent) -> Finding | None:
        asked = _asked(agent)
        used = _used(history, agent)
        given = [*_given(agent), *used, *_turned(agent, asked)]
        if not asked or not used and not any(not same_model(asked, model) for model, _ in given):
            if asked or used:
                return self.unknown(agent.id, "Only one of asked and used model is to be seen.")
            return None
        changed = [
            event
            for event in history.of(Kind.MODEL_CHANGED)
            if event.agent in (agent.id, "") or event.get("target") == agent.id
        ]
        for model, event in given:
            if same_model(asked, model):
                continue
            if any(same_model(str(one.get("to") or ""), model) for one in changed):
                continue
            return self.broken(
                agent.id,
                f"{asked} was asked for, and it runs with {model}; no record says so.",
                agent.spawn.asked if agent.spawn is not None else None,
                agent.first,
                event,
                label="model_substituted",
                asked=asked,
                used=model,
            )
        if not used:
            return self.unknown(agent.id, "Its model was changed; its requests are not to be seen.")
        return self.holds(agent.id, f"All its requests ask {used[0][0]}.", used[0][1])


def _asked(agent: Agent) -> str:
    """The model that the spawn names outright, else the one in its start record, else the one
    that its turns are set to, if that is one."""
    spawned = str(agent.spawn.get("model") or "") if agent.spawn is not None else ""
    for model in (spawned, agent.model):
        if model.lower() not in UNSAID:
            return model
    turns = [event for event in agent.events if event.kind is Kind.STATUS and says_model(event)]
    models = {str(event.get("model")) for event in turns}
    return models.pop() if len(models) == 1 else ""


def _used(history: History, agent: Agent) -> list[tuple[str, Event]]:
    """Models of its requests, each with the first event that shows it."""
    found = {
        str(event.get("model")): event
        for event in reversed(agent.events)
        if event.kind is Kind.MODEL_STARTED and says_model(event)
    }
    for call in history.calls_of(agent.id):
        for attempt in call.attempts:
            if attempt.model and attempt.model.lower() not in UNSAID:
                found.setdefault(attempt.model, attempt.event)
    return list(found.items())


def _given(agent: Agent) -> list[tuple[str, Event]]:
    """The models that the runtime's own records of its spawn, starts and turns name."""
    spawn = agent.spawn
    answers = [spawn.answered, *spawn.again] if spawn is not None else []
    starts = [event for run in agent.runs for event in run.starts]
    turns = [event for event in agent.events if event.kind is Kind.STATUS]
    records = [one for one in [*answers, *starts, *turns] if one is not None and says_model(one)]
    return [(str(event.get("model")), event) for event in records]


def _turned(agent: Agent, asked: str) -> list[tuple[str, Event]]:
    """The models of its answers, if the first of them is named as it was asked for.

    A provider may call a model by a name of its own; where it is seen to repeat the name that
    was asked for, a later answer under another name comes from another model.
    """
    said = [
        event for event in agent.events if event.kind is Kind.AGENT_MESSAGE and says_model(event)
    ]
    if not asked or not said or not same_model(asked, str(said[0].get("model"))):
        return []
    return [(str(event.get("model")), event) for event in said]


LAW = ModelAsAsked()
