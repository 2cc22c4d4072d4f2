// An extension of Lifeline's: each process of pi notes its version, its prompts and its ends.
// One JSON object a line, appended to the file that LIFELINE_NOTES names.
import { appendFileSync } from "node:fs";
import { VERSION } from "@mariozechner/pi-coding-agent";

const note = (type, more) => {
	const told = { at: Date.now(), type, pid: process.pid, ppid: process.ppid, ...more };
	appendFileSync(process.env.LIFELINE_NOTES, `${JSON.stringify(told)}\n`);
};

export default function (pi) {
	pi.on("session_start", () => note("session_start", { version: VERSION }));
	pi.on("tool_execution_start", (event) => {
		if (event.toolName === "subagent") {
			note("subagent", { call: event.toolCallId, task: String(event.args?.task ?? "") });
		}
	});
	pi.on("before_agent_start", (event) => note("prompt", { prompt: String(event.prompt) }));
	pi.on("agent_end", (event) => {
		const last = event.messages.findLast((message) => message.role === "assistant");
		note("agent_end", { stopReason: last?.stopReason, errorMessage: last?.errorMessage });
	});
	pi.on("session_shutdown", () => note("session_shutdown", {}));
}
