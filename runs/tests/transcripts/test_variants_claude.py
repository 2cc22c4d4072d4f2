"""Claude Code's session files: healthy ones that look broken, and the other way round."""

from __future__ import annotations

from pathlib import Path

from runs.core.events import Kind
from runs.tests.transcripts.helpers import broken, case
from runs.tests.transcripts.makers import ClaudeLog, claude_child


def test_claude_a_notice_inside_of_a_turn_is_delivered_as_attachment(tmp_path: Path) -> None:
    log = ClaudeLog().put(0, "user", "go").launch(0.5, "tu", "a1")
    log.queue(20, log.notice("a1", "tu"))
    log.put(21, "attachment", "", attachment={"type": "queued_command",
            "prompt": log.notice("a1", "tu")})  # fmt: skip
    log.say(400, "All done.")
    files = {"p/s.jsonl": log.records, "p/s/subagents/agent-a1.jsonl": claude_child("a1", 19)}
    assert broken(case(tmp_path, files)) == set()


def test_claude_a_background_command_is_no_agent(tmp_path: Path) -> None:
    log = ClaudeLog().put(0, "user", "go").use(1, "b", "Bash", command="x", run_in_background=True)
    log.result(1.1, "b", "running").told(30, "bash_1", "b", "failed").say(31, "It failed.")
    found = case(tmp_path, {"p/s.jsonl": log.records})
    assert [agent.id for agent in found.history.agents.values()] == ["root"]


def test_claude_a_quoted_notification_tells_nobody(tmp_path: Path) -> None:
    log = ClaudeLog().put(0, "user", "go").launch(0.5, "tu", "a1")
    log.put(60, "user", "I saw this: " + log.notice("a1", "tu")).say(61, "Strange.")
    log.put(900, "user", "and now?").say(901, "Nothing.")
    files = {"p/s.jsonl": log.records, "p/s/subagents/agent-a1.jsonl": claude_child("a1", 30)}
    assert ("L3", "a1") in broken(case(tmp_path, files))


def test_claude_two_notices_in_one_record_tell_of_both(tmp_path: Path) -> None:
    log = ClaudeLog().put(0, "user", "go").launch(0.5, "t1", "a1").launch(1.5, "t2", "a2")
    both = log.notice("a1", "t1") + "\n" + log.notice("a2", "t2")
    log.queue(20, log.notice("a1", "t1")).queue(20.1, log.notice("a2", "t2"))
    log.put(20.5, "user", both).say(21, "Both.")
    files = {
        "p/s.jsonl": log.records,
        "p/s/subagents/agent-a1.jsonl": claude_child("a1", 19),
        "p/s/subagents/agent-a2.jsonl": claude_child("a2", 19.5),
    }
    assert broken(case(tmp_path, files)) == set()


def test_claude_a_followed_up_child_that_is_never_told_of_again_is_lost(tmp_path: Path) -> None:
    log = ClaudeLog().put(0, "user", "go").launch(0.5, "tu", "a1").told(20, "a1", "tu")
    log.use(25, "m", "SendMessage", to="a1", message="more").result(25.1, "m", "sent")
    log.say(26, "Waiting.").put(900, "user", "and?").say(901, "Nothing yet.")
    child = ClaudeLog("a1").put(1, "user", "p a1").say(19, "one").put(25.2, "user", "more")
    files = {"p/s.jsonl": log.records,
             "p/s/subagents/agent-a1.jsonl": child.say(40, "two").records}  # fmt: skip
    found = case(tmp_path, files)
    assert [run.status for run in found.history.runs] == ["completed", "completed"]
    assert ("L3", "a1") in broken(found)


def test_claude_word_of_a_second_run_names_the_call_that_gave_the_work(tmp_path: Path) -> None:
    log = ClaudeLog().put(0, "user", "go").launch(0.5, "tu", "a1").told(20, "a1", "tu")
    log.use(25, "m", "SendMessage", to="a1", message="more").result(25.1, "m", "sent")
    log.say(26, "Waiting.").told(41, "a1", "m").say(42, "Twice.").put(900, "user", "thanks")
    child = ClaudeLog("a1").put(1, "user", "p a1").say(19, "one").put(25.2, "user", "more")
    files = {"p/s.jsonl": log.records,
             "p/s/subagents/agent-a1.jsonl": child.say(40, "two").records}  # fmt: skip
    found = case(tmp_path, files)
    assert [len(run.notices) for run in found.history.runs] == [1, 1]
    assert broken(found) == set()


def test_claude_an_error_in_the_middle_of_a_child_is_overcome(tmp_path: Path) -> None:
    log = ClaudeLog().put(0, "user", "go").launch(0.5, "tu", "a1").told(60, "a1", "tu")
    child = ClaudeLog("a1").put(1, "user", "p a1")
    child.say(20, "API Error: 500", "stop_sequence", isApiErrorMessage=True, apiErrorStatus=500)
    child.put(21, "user", "try again").say(50, "report")
    files = {"p/s.jsonl": log.say(62, "Good.").records,
             "p/s/subagents/agent-a1.jsonl": child.records}  # fmt: skip
    assert ("L2", "a1") not in broken(case(tmp_path, files))


def test_claude_a_foreground_child_that_fails_is_told_by_its_result(tmp_path: Path) -> None:
    log = ClaudeLog().put(0, "user", "go").use(1, "tu", "Task", description="d", prompt="p a1")
    log.result(9, "tu", "Agent terminated early", "Error: Agent terminated early", error=True)
    child = claude_child("a1", 8.9, "API Error", isApiErrorMessage=True, error="server_error",
                         apiErrorStatus=500)  # fmt: skip
    found = case(
        tmp_path,
        {
            "p/s.jsonl": log.say(10, "It failed.").records,
            "p/s/subagents/agent-a1.jsonl": child,
            "p/s/subagents/agent-a1.meta.json": {"agentType": "x", "toolUseId": "tu",
                                                 "requestShape": "foreground"},
        },
    )  # fmt: skip
    assert broken(found) == set()
    (run,) = found.history.runs
    assert (run.status, [note.get("status") for note in run.notices]) == ("failed", ["failed"])


def test_claude_side_chains_of_old_versions_are_agents_of_their_calls(tmp_path: Path) -> None:
    log = ClaudeLog().put(0, "user", "go").use(1, "tu", "Task", description="d", prompt="do it")
    side = ClaudeLog()
    side.put(1.1, "user", "do it", isSidechain=True, uuid="x0", parentUuid=None)
    side.say(5, "found", isSidechain=True, uuid="x1", parentUuid="x0")
    log.records += side.records
    log.result(6, "tu", "found", {"content": [{"type": "text", "text": "found"}]})
    found = case(tmp_path, {"p/s.jsonl": log.say(7, "Good.").records})
    assert broken(found) == set()
    assert [(one.id, one.parent) for one in found.history.children] == [("tu", "root")]


def test_claude_a_notice_about_somebody_elses_child_is_misrouted(tmp_path: Path) -> None:
    log = ClaudeLog().put(0, "user", "go").launch(0.5, "tu", "a1").told(20, "a1", "tu")
    log.told(30, "zz", "other").say(31, "Strange.")
    files = {"p/s.jsonl": log.records, "p/s/subagents/agent-a1.jsonl": claude_child("a1", 19)}
    assert broken(case(tmp_path / "whole", files)) == {("L9", "zz")}
    cut = {**files, "p/s.jsonl": log.records[3:]}
    found = case(tmp_path / "cut", cut)
    assert [row["what"] for row in found.damage] == ["missing-start"]
    assert ("L9", "zz") not in broken(found)


def test_claude_a_person_changes_the_model_by_a_command(tmp_path: Path) -> None:
    words = "<command-name>/model</command-name>\n<command-args>m-small</command-args>"
    log = ClaudeLog().put(0, "user", words)
    log.records.append({**log.records[0], "uuid": "u9", "type": "system", "content": words})
    found = case(tmp_path, {"p/s.jsonl": log.say(1, "It is.").records})
    changed = found.history.of(Kind.MODEL_CHANGED)
    assert [event.get("to") for event in changed] == ["m-small", "m-small"]
    assert found.history.of(Kind.USER_MESSAGE) == []


def test_claude_a_compaction_tells_how_a_task_stands(tmp_path: Path) -> None:
    log = ClaudeLog().put(0, "user", "go").launch(0.5, "tu", "a1")
    log.queue(20, log.notice("a1", "tu"))
    stands = {"type": "task_status", "taskId": "a1", "taskType": "local_agent"}
    log.put(22, "attachment", "", attachment={**stands, "status": "completed"})
    log.put(23, "attachment", "", attachment={**stands, "taskType": "local_bash", "status": "x"})
    log.say(400, "All done.")
    files = {"p/s.jsonl": log.records, "p/s/subagents/agent-a1.jsonl": claude_child("a1", 19)}
    found = case(tmp_path, files)
    assert broken(found) == set()
    assert len(found.history.of(Kind.NOTICE_DELIVERED)) == 1
