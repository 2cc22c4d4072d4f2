// The import page: dropping files and folders, pasting, and the progress of a large upload.

const form = document.getElementById("bring");
const MOST_SHOWN = 40;
const MOST_PIECES = 500;

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

/** A request of ours; `onSent` hears how many bytes of it are on their way. */
function post(address, body, onSent) {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("X-CSRFToken", form.elements.csrfmiddlewaretoken.value);
    request.responseType = "json";
    request.upload.onprogress = (event) => onSent(event.loaded);
    request.onload = () => {
      const said = request.response?.error;
      if (request.status < 300 && request.response) return done(request.response);
      failed([said?.what ?? `It was refused (${request.status}).`, said?.do ?? ""]);
    };
    request.onerror = () => failed(["The connection broke.", "Try again."]);
    request.send(body);
  });
}

/** The files cut into groups of pieces, each group small enough for one request. */
function* groups(files, most) {
  let group = [];
  let room = most;
  for (const [name, file] of files) {
    let at = 0;
    do {
      const size = Math.min(room, file.size - at);
      group.push([name, at, file.slice(at, at + size)]);
      at += size;
      room -= size;
      if (room === 0 || group.length === MOST_PIECES) {
        yield group;
        group = [];
        room = most;
      }
    } while (at < file.size);
  }
  if (group.length) yield group;
}

/** Everything as many small requests: the server holds each whole in memory. */
async function inPieces(files, most, onSent) {
  let upload = "";
  let sent = 0;
  for (const group of groups(files, most)) {
    const body = new FormData();
    body.append("upload", upload);
    body.append("places", JSON.stringify(group.map(([name, at]) => [name, at])));
    for (const [, , piece] of group) body.append("files", piece, "piece");
    upload = (await post(form.dataset.pieces, body, (more) => onSent(sent + more))).upload;
    sent += group.reduce((sum, [, , piece]) => sum + piece.size, 0);
  }
  const body = new FormData();
  body.append("upload", upload);
  return body;
}

function atOnce(files) {
  const body = new FormData();
  body.append("paths", JSON.stringify(files.map(([name]) => name)));
  for (const [name, file] of files) body.append("files", file, name.split("/").pop());
  return body;
}

async function send(files) {
  const state = document.getElementById("state");
  const bar = document.getElementById("progress");
  const most = Number(form.dataset.piece);
  const total = files.reduce((sum, [, file]) => sum + file.size, 0);
  const onSent = (bytes) => {
    bar.value = total ? Math.min(1, bytes / total) : 1;
    const part = `${Math.min(100, Math.floor(bar.value * 100))} % of ${Math.ceil(total / 1e6)} MB`;
    state.textContent = bar.value < 1 ? `sending, ${part}` : "reading";
  };
  bar.hidden = false;
  form.elements.go.disabled = true;
  document.getElementById("trouble").replaceChildren();
  try {
    const large = total > most;
    const body = large ? await inPieces(files, most, onSent) : atOnce(files);
    const answer = await post(form.action, body, large ? () => {} : onSent);
    window.location.assign(answer.run);
  } catch (error) {
    bar.hidden = true;
    state.textContent = "";
    form.elements.go.disabled = false;
    trouble(...(Array.isArray(error) ? error : [String(error)]));
  }
}

/** The pasted text as a file beside the others. */
function pasted() {
  const text = form.elements.text.value;
  return text.trim() ? [["pasted.jsonl", new Blob([text])]] : [];
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
    const words = event.dataTransfer.getData("text/plain");
    const found = await given(event.dataTransfer);
    if (!found.length && words) form.elements.text.value += words;
    else if (!found.length) trouble("There is no file in it.", "Drop files or a folder.");
    if (!found.length) return;
    choose(found);
    send([...found, ...pasted()]);
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
    const all = [...files, ...pasted()];
    if (all.length) send(all);
    else trouble("There is nothing in it.", "Drop files, or paste the text of a log.");
  });
}

if (form) listen();
