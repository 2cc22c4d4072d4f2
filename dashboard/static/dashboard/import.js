// The import page: dropping files and folders, pasting, and the progress of a large upload.

const form = document.getElementById("bring");
const MOST_SHOWN = 40;

/** The files below a dropped entry with their relative names. */
async function filesOf(entry, path = "") {
  const name = path ? `${path}/${entry.name}` : entry.name;
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed));
    return [[name, file]];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    // A reader gives at most a hundred at a time.
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) break;
    for (const inner of some) found.push(...(await filesOf(inner, name)));
  }
  return found;
}

/** Everything in a drop or paste: files, folders, else text. */
async function given(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const files = [...transfer.files];
  if (!entries.length) return files.map((file) => [file.name, file]);
  return (await Promise.all(entries.map((entry) => filesOf(entry)))).flat();
}

function trouble(what, rest = "") {
  const line = document.createElement("p");
  line.className = "notice bad";
  const strong = document.createElement("b");
  strong.textContent = what;
  line.append(strong, ` ${rest}`);
  document.getElementById("trouble").replaceChildren(line);
}

function send(files, text) {
  const state = document.getElementById("state");
  const bar = document.getElementById("progress");
  const body = new FormData();
  body.append("paths", JSON.stringify(files.map(([name]) => name)));
  for (const [name, file] of files) body.append("files", file, name.split("/").pop());
  if (text) {
    body.set("paths", JSON.stringify(["pasted.jsonl"]));
    body.append("files", new Blob([text]), "pasted.jsonl");
  }
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.setRequestHeader("X-CSRFToken", form.elements.csrfmiddlewaretoken.value);
  request.responseType = "json";
  bar.hidden = false;
  request.upload.onprogress = (event) => {
    if (!event.lengthComputable) return;
    bar.value = event.loaded / event.total;
    state.textContent = event.loaded < event.total ? "sending" : "reading";
  };
  request.onload = () => {
    const answer = request.response;
    if (answer?.run) return window.location.assign(answer.run);
    bar.hidden = true;
    state.textContent = "";
    form.elements.go.disabled = false;
    trouble(answer?.error?.what ?? `It was refused (${request.status}).`, answer?.error?.do ?? "");
  };
  request.onerror = () => {
    bar.hidden = true;
    form.elements.go.disabled = false;
    trouble("The connection broke.", "Try again.");
  };
  form.elements.go.disabled = true;
  request.send(body);
}

function listen() {
  const drop = document.getElementById("drop");
  const chosen = document.getElementById("chosen");
  let files = [];

  const choose = (found) => {
    files = found;
    const shown = found.slice(0, MOST_SHOWN).map(([name]) => name);
    if (found.length > MOST_SHOWN) shown.push(`… ${found.length - MOST_SHOWN} more`);
    chosen.replaceChildren(
      ...shown.map((name) => {
        const line = document.createElement("li");
        line.textContent = name;
        return line;
      }),
    );
  };
  form.querySelector(".folder").hidden = false;
  for (const input of [document.getElementById("files"), document.getElementById("folder")]) {
    input.addEventListener("change", () => {
      choose([...input.files].map((file) => [file.webkitRelativePath || file.name, file]));
    });
  }
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) drop.classList.remove("over");
  });
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const found = await given(event.dataTransfer);
    if (!found.length) return;
    choose(found);
    send(found, "");
  });
  document.addEventListener("paste", (event) => {
    const found = [...event.clipboardData.files].map((file) => [file.name, file]);
    const typing = event.target.closest?.("textarea,input");
    if (found.length) {
      event.preventDefault();
      choose(found);
    } else if (!typing) {
      event.preventDefault();
      form.elements.text.value += event.clipboardData.getData("text/plain");
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = files.length ? "" : form.elements.text.value;
    if (!files.length && !text.trim()) {
      trouble("There is nothing in it.", "Drop files, or paste the text of a log.");
    } else {
      send(files, text);
    }
  });
}

if (form) listen();
