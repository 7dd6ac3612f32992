// Draws a picker: groups of options, each a row of radio buttons or a list with search, and the
// line of Python that says what is chosen. Text from answers is only ever set as text.
//
// The kernel sends the options once, in `_groups`; a choice is one bit for each of them, in
// `_choice`, so that a click on one of 50,000 sends some kilobytes.

const ROW = 26; // the height of a row, in pixels, also in the stylesheet
const AHEAD = 8; // rows drawn above and below those in sight
const SEARCHED = 8; // more options than this are given a search box
const SPELT = 50; // more values than this are not spelt out in the line of Python

const PATIENCE = 3000; // milliseconds in which the kernel confirms a choice

const BOLD = 1;
const DIMMED = 2;
const DISABLED = 4;

// --- text -----------------------------------------------------------------------------------

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

const escape = (character) => {
  const code = character.codePointAt(0);
  const digits = (count) => code.toString(16).padStart(count, "0");
  if (code < 0x100) return `\\x${digits(2)}`;
  return code < 0x10000 ? `\\u${digits(4)}` : `\\U${digits(8)}`;
};

/** Text that cannot reorder a line or hide in it; what joins letters and emoji may stay. */
const visible = (text, most = 300) => {
  const head = Array.from(text.slice(0, 2 * most)).slice(0, most).join("");
  const shown = head.replace(UNSEEN, (c) => ("\u200c\u200d".includes(c) ? c : escape(c)));
  return head.length < text.length ? `${shown}…` : shown;
};

/** A string as Python writes it. */
const quoted = (text) => {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const plain = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", [quote]: `\\${quote}` };
  const body = text.replace(/[\\\n\r\t'"]/g, (c) => plain[c] ?? c).replace(UNSEEN, escape);
  return `${quote}${body}${quote}`;
};

const tuple = (values, more) => {
  const listed = values.map(quoted).join(", ");
  if (more) return `(${listed}, … ${number(more)} more)`;
  return values.length === 1 ? `(${listed},)` : `(${listed})`;
};

const number = (count) => count.toLocaleString("en");

/** Text as it is searched: without case and accents. */
const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

const byCodePoint = (a, b) => {
  const [left, right] = [Array.from(a), Array.from(b)];
  const at = left.findIndex((character, place) => character !== right[place]);
  if (at < 0) return left.length - right.length;
  return right[at] === undefined ? 1 : left[at].codePointAt(0) - right[at].codePointAt(0);
};

// --- elements -------------------------------------------------------------------------------

// Every picker of a page has a module of its own, which counts from nought.
const prefix = `aa-picker-${Math.random().toString(36).slice(2)}`;
let made = 0;

const KEYED = new Set(["input", "button"]);

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  // Jupyter takes bare keys for commands of the notebook, such as deleting a cell, unless what has
  // the focus asks not to; Notebook 7 does so before any other handler, and looks no further up.
  if (KEYED.has(tag) || "tabindex" in attributes) element.dataset.lmSuppressShortcuts = "true";
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

/** What groups of both kinds share: which of their options are chosen, one bit each. */
class Group {
  constructor(changed) {
    this.changed = changed;
    this.id = `${prefix}-${(made += 1)}`;
  }

  load(group, bits) {
    const fresh = this.group !== group;
    this.group = group;
    this.marks = new Uint8Array(group.marks.buffer, group.marks.byteOffset, group.marks.byteLength);
    this.bits = new Uint8Array(Math.ceil(group.values.length / 8));
    this.bits.set(new Uint8Array(bits.buffer, bits.byteOffset, bits.byteLength));
    if (fresh) this.fill();
    this.draw();
  }

  label(option) {
    const text = String((this.group.labels ?? this.group.values)[option]);
    return text.trim() ? visible(text) : quoted(text);
  }

  has(option) {
    return Boolean((this.bits[option >> 3] >> (option & 7)) & 1);
  }

  put(option, on) {
    if (this.marks[option] & DISABLED) return;
    if (on) this.bits[option >> 3] |= 1 << (option & 7);
    else this.bits[option >> 3] &= ~(1 << (option & 7));
  }

  chosen() {
    const found = [];
    for (let option = 0; option < this.group.values.length; option += 1)
      if (this.has(option)) found.push(option);
    return found;
  }

  /** The choice in Python; with `whole`, however long that is. */
  code(sorted, whole) {
    const options = this.chosen();
    if (this.group.one) return String(this.group.values[options[0]]);
    const spelt = whole || options.length <= SPELT ? options : options.slice(0, 3);
    const values = spelt.map((option) => this.group.values[option]);
    return tuple(sorted ? values.sort(byCodePoint) : values, options.length - spelt.length);
  }
}

/** One of a few: native radio buttons in a row. */
class Radios extends Group {
  constructor(changed) {
    super(changed);
    this.title = make("legend");
    this.element = make("fieldset", { class: "aa-radios" });
    this.element.addEventListener("change", (event) => {
      this.bits.fill(0);
      this.put(Number(event.target.value), true);
      this.changed();
    });
  }

  fill() {
    this.title.textContent = this.group.title;
    const inputs = Array.from(this.group.values, (_, option) => {
      const input = make("input", { type: "radio", name: this.id, value: option });
      input.disabled = Boolean(this.marks[option] & DISABLED);
      const text = [this.label(option), this.group.notes[option]].filter(Boolean).join(" · ");
      return make("label", {}, input, text);
    });
    this.element.replaceChildren(this.title, ...inputs);
  }

  draw() {
    for (const input of this.element.querySelectorAll("input"))
      input.checked = this.has(Number(input.value));
  }
}

/** Any of many: a list of which only the rows in sight are drawn. */
class List extends Group {
  constructor(changed) {
    super(changed);
    const id = this.id;
    this.title = make("span", { class: "aa-title", id: `${id}-title` });
    this.count = make("span", { class: "aa-count", id: `${id}-count`, role: "status" });
    this.search = make("input", {
      type: "search",
      placeholder: "Search",
      "aria-controls": id,
      autocomplete: "off",
      spellcheck: "false",
    });
    this.rows = make("div", { class: "aa-rows", role: "presentation" });
    this.box = make(
      "div",
      {
        class: "aa-list",
        id,
        role: "listbox",
        tabindex: "0",
        "aria-multiselectable": "true",
        "aria-labelledby": `${id}-title`,
        "aria-describedby": `${id}-count`,
      },
      this.rows,
    );
    this.buttons = [
      ["All", () => true],
      ["None", () => false],
      ["Invert", (option) => !this.has(option)],
    ].map(([name, wanted]) => {
      const button = make("button", { type: "button" });
      button.addEventListener("click", () => this.putAll(wanted));
      return [name, button];
    });
    this.element = make(
      "div",
      { class: "aa-group", role: "group", "aria-labelledby": `${id}-title` },
      make("div", { class: "aa-head" }, this.title, this.count),
      this.search,
      this.box,
      make("div", { class: "aa-foot" }, ...this.buttons.map(([, button]) => button)),
    );
    this.active = 0; // the row that keys act on
    this.anchor = 0; // the row toggled last, at which a range begins
    this.search.addEventListener("input", () => this.filter());
    this.search.addEventListener("keydown", (event) => this.searchKey(event));
    this.box.addEventListener("keydown", (event) => this.listKey(event));
    this.box.addEventListener("click", (event) => this.click(event));
    this.box.addEventListener("scroll", () => this.draw());
    this.box.addEventListener("focus", () => this.reveal());
  }

  fill() {
    const { title, values } = this.group;
    this.words = null;
    this.title.textContent = title;
    this.search.setAttribute("aria-label", `Search ${title}`);
    this.search.hidden = values.length <= SEARCHED;
    if (this.search.hidden) this.search.value = "";
    this.open = this.marks.reduce((sum, mark) => sum + (mark & DISABLED ? 0 : 1), 0);
    this.filter();
  }

  /** Show the options in which every word of the search stands. */
  filter() {
    const { values, labels, details } = this.group;
    const sought = folded(this.search.value).split(/\s+/).filter(Boolean);
    const all = Array.from(values, (_, option) => option);
    if (sought.length && !this.words)
      this.words = all.map((at) =>
        folded([values[at], labels?.[at], details?.[at]].filter(Boolean).join(" ")),
      );
    this.narrowed = sought.length > 0;
    this.shown = this.narrowed
      ? all.filter((option) => sought.every((word) => this.words[option].includes(word)))
      : all;
    this.active = 0;
    this.anchor = 0;
    // Half a row in sight tells that the list goes on.
    const { rows } = this.group;
    this.height = ROW * (values.length > rows ? rows - 0.5 : Math.max(1, values.length));
    this.box.style.height = `${this.height + 2}px`;
    this.rows.style.height = `${this.shown.length * ROW}px`;
    this.box.scrollTop = 0;
    this.drawn = null;
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - AHEAD);
    const seen = Math.ceil((this.box.scrollTop + this.height) / ROW);
    const last = Math.min(this.shown.length, seen + AHEAD);
    if (this.drawn !== `${first} ${last}`) {
      const rows = this.shown.slice(first, last);
      this.rows.replaceChildren(...rows.map((option, at) => this.row(option, first + at)));
      this.drawn = `${first} ${last}`;
    }
    for (const row of this.rows.children) {
      row.setAttribute("aria-selected", this.has(Number(row.dataset.option)));
      row.classList.toggle("aa-active", Number(row.dataset.row) === this.active);
    }
    const there = first <= this.active && this.active < last;
    if (there) this.box.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    else this.box.removeAttribute("aria-activedescendant");
    this.tell();
  }

  row(option, at) {
    const { values, details, notes } = this.group;
    const [label, value] = [this.label(option), visible(String(values[option]))];
    const marks = this.marks[option];
    const parts = [make("bdi", { class: "aa-label" }, label)];
    if (details?.[option]) parts.push(make("bdi", { class: "aa-detail" }, visible(details[option])));
    if (notes[option]) parts.push(make("bdi", { class: "aa-note" }, visible(notes[option])));
    const row = make(
      "div",
      {
        id: `${this.id}-${at}`,
        role: "option",
        class: "aa-row",
        style: `top: ${at * ROW}px`,
        title: [label === value ? label : `${label} (${value})`, details?.[option], notes[option]]
          .filter(Boolean)
          .join(" · "),
        "aria-setsize": this.shown.length,
        "aria-posinset": at + 1,
        "data-option": option,
        "data-row": at,
      },
      make("span", { class: "aa-tick", "aria-hidden": "true" }),
      ...parts,
    );
    if (marks & DISABLED) row.setAttribute("aria-disabled", "true");
    for (const [mark, name] of [[BOLD, "aa-strong"], [DIMMED, "aa-faint"]])
      row.classList.toggle(name, Boolean(marks & mark));
    return row;
  }

  /** Say how many are chosen, and how many are shown; the number is read out as it changes. */
  tell() {
    const chosen = this.chosen();
    const parts = [
      chosen.length
        ? `${number(chosen.length)} of ${number(this.open)} chosen`
        : this.group.empty.replace("{}", number(this.open)),
    ];
    if (this.narrowed) parts.push(`${number(this.shown.length)} shown`);
    const text = parts.join(", ");
    if (this.count.textContent !== text) this.count.textContent = text;
    for (const [name, button] of this.buttons) {
      const label = this.narrowed ? `${name} shown` : name;
      if (button.textContent === label) continue;
      button.textContent = label;
      button.setAttribute("aria-label", `${label}: ${this.group.title}`);
    }
  }

  // --- what people do -----------------------------------------------------------------------

  searchKey(event) {
    if (event.key === "ArrowDown" || event.key === "Enter") this.box.focus();
    else if (event.key === "Escape" && this.search.value) this.clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  listKey(event) {
    if (event.altKey) return;
    const { key, shiftKey: shift } = event;
    const page = Math.floor(this.height / ROW) - 1;
    const ends = { Home: 0, End: this.shown.length - 1 };
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.ctrlKey || event.metaKey) {
      if (key.toLowerCase() !== "a") return;
      this.putAll(this.shown.every((at) => this.has(at) || this.marks[at] & DISABLED) ? never : always);
    } else if (key in ends || key in steps) {
      const from = this.active;
      this.go(ends[key] ?? from + steps[key]);
      if (shift) this.range(from);
    } else if (key === " " || (key === "Enter" && !shift)) {
      if (shift) this.range(this.anchor);
      else this.toggle(this.active);
    } else if (key === "Escape" && this.search.value) this.clear();
    else if (key.length === 1) this.type(key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Type to search; in a short list, to go to what begins so. */
  type(key) {
    if (this.search.hidden) {
      const begins = (option) => folded(this.label(option)).startsWith(folded(key));
      const from = this.active + 1;
      const turned = [...this.shown.slice(from), ...this.shown.slice(0, from)];
      const found = turned.find(begins);
      if (found !== undefined) this.go(this.shown.indexOf(found));
      return;
    }
    this.search.focus();
    this.search.value += key;
    this.filter();
  }

  clear() {
    this.search.value = "";
    this.filter();
  }

  click(event) {
    const { top, height } = this.rows.getBoundingClientRect();
    const row = Math.floor(((event.clientY - top) / height) * this.shown.length);
    if (row < 0 || row >= this.shown.length) return;
    this.active = row;
    if (event.shiftKey) this.range(this.anchor);
    else this.toggle(row);
  }

  go(row) {
    this.active = Math.max(0, Math.min(row, this.shown.length - 1));
    this.reveal();
  }

  /** Bring the active row into sight. */
  reveal() {
    const top = this.active * ROW;
    const highest = top - this.height + ROW;
    this.box.scrollTop = Math.max(highest, Math.min(this.box.scrollTop, top));
    this.draw();
  }

  toggle(row) {
    if (!this.shown.length) return;
    this.anchor = row;
    this.put(this.shown[row], !this.has(this.shown[row]));
    this.draw();
    this.changed();
  }

  /** Choose from a row to the active one, both included. */
  range(from) {
    const [first, last] = [from, this.active].sort((a, b) => a - b);
    for (const option of this.shown.slice(first, last + 1)) this.put(option, true);
    this.draw();
    this.changed();
  }

  putAll(wanted) {
    for (const option of this.shown) this.put(option, wanted(option));
    this.draw();
    this.changed();
  }
}

const always = () => true;
const never = () => false;

// --- the picker -----------------------------------------------------------------------------

/** Put text on the clipboard, also where the page is not served securely. */
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { class: "aa-unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("the browser does not allow it");
  }
};

const render = ({ model, el }) => {
  const code = make("code");
  const named = { class: "aa-python", role: "group", "aria-label": "The choice in Python" };
  const block = make("div", { ...named, tabindex: "0" }, code);
  const button = make("button", { type: "button", class: "aa-copy" }, "Copy");
  const copied = make("span", { class: "aa-copied", role: "status" });
  const body = make("div", { class: "aa-groups" });
  const line = make("div", { class: "aa-code" }, block, button, copied);
  const fold = make("details", { class: "aa-fold" }, make("summary", {}, "Choose"), body);
  const root = make("div", { class: "aa-picker", role: "group" }, fold, line);
  let parts = [];
  let waiting;

  const python = (whole) => {
    const { call } = model.get("_groups");
    if (!call) return parts[0].code(false, whole);
    const given = parts.filter((part) => part.group.one || part.bits.some(Boolean));
    return `${call}(${given.map((p) => `${p.group.name}=${p.code(true, whole)}`).join(", ")})`;
  };
  const write = () => {
    code.textContent = python(false);
    copied.textContent = "";
  };
  const send = () => {
    write();
    const bits = parts.map((part) => new DataView(part.bits.slice().buffer));
    const number = Math.max(Date.now(), (model.get("_choice").number ?? 0) + 1);
    model.set("_choice", { bits, number });
    model.save_changes();
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (isReceived()) return;
      copied.textContent =
        "Python has not received this choice. If it is busy, it will; after a restart of the " +
        "kernel nothing listens: run the cell again.";
    }, PATIENCE);
  };
  const isReceived = () => {
    const { number } = model.get("_choice");
    return number === undefined || model.get("_received") === number;
  };
  const receive = () => {
    if (!isReceived()) return;
    clearTimeout(waiting);
    if (copied.textContent.startsWith("Python has not")) copied.textContent = "";
  };
  const load = () => {
    const { title, groups } = model.get("_groups");
    const choice = model.get("_choice");
    root.setAttribute("aria-label", title ? `Choice: ${visible(title)}` : "Choice");
    if (parts.length !== groups.length) {
      parts = groups.map((group) => (group.one ? new Radios(send) : new List(send)));
      body.replaceChildren(...parts.map((part) => part.element));
    }
    parts.forEach((part, at) => part.load(groups[at], choice.bits[at]));
    write();
  };

  // The compact form is the line of Python, and the options in a fold.
  const fit = () => {
    const compact = Boolean(model.get("compact"));
    fold.classList.toggle("aa-whole", !compact);
    fold.open = !compact;
  };

  button.addEventListener("click", async () => {
    const outcome = await copy(python(true)).then(
      () => "Copied",
      (error) => `Not copied: ${error.message}`,
    );
    copied.textContent = outcome;
  });
  model.on("change:_choice", load);
  model.on("change:compact", fit);
  model.on("change:_received", receive);
  load();
  fit();
  el.append(root);
  return () => {
    clearTimeout(waiting);
    model.off("change:_received", receive);
    model.off("change:compact", fit);
    model.off("change:_choice", load);
  };
};

export default { render };
