// The keys of the run page, in one table, and the dialog that lists them.

/** @typedef {{keys: string[], words: string, shown?: string, act: (event: KeyboardEvent) => void}} Key */

const WITHIN = "input,textarea,select,[contenteditable=true],dialog[open]";

export class Keys {
  /** @param {Key[]} table */
  constructor(table) {
    this.table = [...table, { keys: ["?"], words: "this help", act: () => this.help() }];
    this.byKey = new Map(this.table.flatMap((row) => row.keys.map((key) => [key, row])));
    document.addEventListener("keydown", (event) => this.#pressed(event));
    this.#button();
  }

  #pressed(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.(WITHIN)) return;
    const row = this.byKey.get(event.key);
    if (!row) return;
    event.preventDefault();
    row.act(event);
  }

  #button() {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "help-button", textContent: "?", title: "Keys" });
    button.setAttribute("aria-label", "Help: the keys of this page");
    button.addEventListener("click", () => this.help());
    document.querySelector(".preferences")?.after(button);
  }

  /** Opens the list of keys. */
  help() {
    this.dialog ??= this.#dialog();
    if (!this.dialog.open) this.dialog.showModal();
  }

  #dialog() {
    const dialog = document.createElement("dialog");
    dialog.className = "help";
    dialog.setAttribute("aria-labelledby", "help-title");
    const title = Object.assign(document.createElement("h2"), { id: "help-title", textContent: "Keys" });
    const list = document.createElement("dl");
    for (const row of this.table) {
      const keys = document.createElement("dt");
      for (const key of row.shown ? row.shown.split(" ") : row.keys) {
        keys.append(Object.assign(document.createElement("kbd"), { textContent: key }), " ");
      }
      list.append(keys, Object.assign(document.createElement("dd"), { textContent: row.words }));
    }
    const close = Object.assign(document.createElement("button"), { type: "button", textContent: "Close" });
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.append(title, list, close);
    document.body.append(dialog);
    return dialog;
  }
}
