"use strict";
(() => {
  const { add, chart, convergence, extent, mapOn, stepPath, tipIn, wide } = figures;
  const $ = (id) => document.getElementById(id);
  const readOnly = document.body.dataset.readonly === "yes";
  const tip = tipIn($("tip"));
  const POLL = 2000, SOON = 400;

  // What the server sends as HTML has passed its one function that escapes; nothing else becomes HTML here.
  const trusted = window.trustedTypes ? trustedTypes.createPolicy("graphbo", { createHTML: (text) => text }) : { createHTML: (text) => text };
  const fill = (element, html) => {
    const open = [...element.querySelectorAll("details[open]")].map((one) => one.id);
    element.innerHTML = trusted.createHTML(html);
    for (const one of element.querySelectorAll("details")) one.open = open.includes(one.id);
    tellTimes(element);
  };

  // The token: in the address behind #, which no server sees, and from then on in this browser

  function take(text) {
    const found = /(?:token=)?([\w-]{20,})\s*$/.exec(text);
    if (found) localStorage.setItem("graphbo-token", found[1]);
    return Boolean(found);
  }
  if (location.hash.startsWith("#token=")) {
    take(location.hash);
    history.replaceState(null, "", location.pathname + location.search);
  }
  $("token-form").addEventListener("submit", (event) => { event.preventDefault(); if (take($("token").value)) location.reload(); else say("There is no token in that"); });

  // Asking the server

  class Refused extends Error {}
  async function ask(path, options = {}) {
    const token = localStorage.getItem("graphbo-token") || "";
    let answer;
    try {
      answer = await fetch(path, { ...options, headers: { authorization: "Bearer " + token, ...options.headers }, cache: "no-store", credentials: "omit" });
    } catch {
      throw new Error("The dashboard does not answer: does it still run?");
    }
    if (answer.status === 204) return null;
    if (answer.status === 401) { show("token"); throw new Refused("Your token is not this dashboard's"); }
    if (answer.ok) return answer;
    const { error } = await answer.json().catch(() => ({ error: "The dashboard answered with " + answer.status }));
    throw new Refused(error);
  }
  const get = async (path, query = {}) => { const answer = await ask(path + "?" + new URLSearchParams(query)); return answer && answer.json(); };
  const post = async (path, data) => (await ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(data) })).json();
  const upload = async (path, query, file) => (await ask(path + "?" + new URLSearchParams(query), { method: "POST", headers: { "content-type": "text/csv" }, body: file })).json();

  // What is said

  let silence = 0;
  function say(text) {
    clearTimeout(silence);
    $("said").textContent = text;
    $("said").classList.add("shown");
    silence = setTimeout(() => $("said").classList.remove("shown"), 6000);
  }
  function trouble(text) {
    if ($("trouble").textContent !== text) $("trouble").textContent = text;
    $("trouble").hidden = !text;
  }
  function ago(then) {
    const seconds = Math.max(0, (Date.now() - then) / 1000);
    for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
      const count = Math.round(seconds / size);
      if (seconds >= size) return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
    }
    return "just now";
  }
  function tellTimes(root) {
    for (const one of root.querySelectorAll("time[datetime]")) {
      const then = Date.parse(one.dateTime);
      if (!Number.isNaN(then)) { const text = ago(then); if (one.textContent !== text) one.textContent = text; one.title = new Date(then).toLocaleString(); }
    }
  }
  setInterval(() => tellTimes(document), 30000);

  // Who it is

  const me = () => localStorage.getItem("graphbo-name") || "";
  function sayWho() {
    $("who").textContent = me() ? "" : "Say who you are";
    if (me()) { add($("who"), "span", "You are ", "you"); add($("who"), "span", me()); }
  }
  let named = null;
  function meet() {
    $("me-name").value = me();
    $("me").showModal();
    return new Promise((done) => { named = done; });
  }
  $("who").addEventListener("click", meet);
  $("me").addEventListener("close", () => {
    const name = $("me-name").value.trim();
    if (name && $("me").returnValue !== "cancel") localStorage.setItem("graphbo-name", name);
    sayWho();
    if (named) { named(me()); named = null; }
  });
  sayWho();
  $("who").hidden = readOnly;
  $("read-only").hidden = !readOnly;
  if (readOnly) for (const one of ["ask", "bring-in", "run-controls", "to-start"]) $(one).hidden = true;

  // Doing something: every form of the class `act` is an action of the server

  const random = () => [...crypto.getRandomValues(new Uint32Array(4))].map((one) => one.toString(36)).join("");
  const wrongOf = (form) => form.querySelector(".wrong") || add(form, "p", "", "wrong");
  async function act(form, button) {
    if (form.dataset.busy) return;
    const person = me() || await meet();
    if (!person) return;
    // The same request again, after an answer that was lost, gives the same nodes and no others.
    form.dataset.token = form.dataset.token || random();
    const around = form.closest("[data-key]");
    const data = { run: current, key: around ? around.dataset.key : undefined, ...form.dataset, ...Object.fromEntries(new FormData(form)), action: (button && button.dataset.action) || form.dataset.action, person };
    const wrong = wrongOf(form);
    wrong.setAttribute("role", "alert");
    wrong.textContent = "";
    form.dataset.busy = "yes";
    try {
      const { said } = await post("/api/act", data);
      delete form.dataset.token;
      delete form.dataset.dirty;
      say(said);
      if ($("panel").open) $("panel").close();
      for (const field of form.querySelectorAll("input[name=value], input[name=note], input[name=reason]")) field.value = "";
      await refresh();
    } catch (error) {
      wrong.textContent = error.message + (error instanceof Refused ? "" : " Try again: nothing is recorded twice.");
    } finally { delete form.dataset.busy; }
  }
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form.act")) return;
    event.preventDefault();
    act(event.target, event.submitter);
  });
  document.addEventListener("input", (event) => { const form = event.target.closest("form.act"); if (form) form.dataset.dirty = "yes"; });
  document.addEventListener("click", (event) => {
    const node = event.target.closest("[data-node]"), place = event.target.closest("[data-show]");
    if (node) look(node.dataset.node);
    if (place) showOnMap(place.dataset.show);
  });

  // Pages

  let current = null, refreshing = null, refreshPage = async () => {};
  function show(name) {
    for (const one of ["token", "runs", "run", "start"]) $("page-" + one).hidden = one !== name;
  }
  const parts = new Map();
  function fillParts(found) {
    for (const [name, html] of Object.entries(found)) {
      if (parts.get(name) === html) continue;
      const holder = document.querySelector(`[data-part="${name}"]`);
      // What somebody is typing stays until it is sent.
      if (holder.querySelector("[data-dirty]")) continue;
      const focus = focusIn(holder);
      parts.set(name, html);
      fill(holder, html);
      focus();
    }
  }
  // Whoever uses a keyboard stays where they were when something around them changes.
  function focusIn(holder) {
    const held = document.activeElement;
    if (!holder.contains(held) || held === holder) return () => {};
    const all = [...holder.querySelectorAll("button, a, input, [tabindex]")], place = all.indexOf(held), name = held.id || held.dataset.node || held.getAttribute("href");
    return () => {
      const now = [...holder.querySelectorAll("button, a, input, [tabindex]")];
      const same = name && now.find((one) => (one.id || one.dataset.node || one.getAttribute("href")) === name);
      const next = same || now[Math.min(place, now.length - 1)];
      if (next) next.focus({ preventScroll: true });
    };
  }
  async function refresh() {
    // One after the other: an old answer never comes after a newer one.
    while (refreshing) await refreshing;
    refreshing = refreshPage().then(() => trouble(""), (error) => { if ($("page-token").hidden) trouble(error.message); });
    await refreshing;
    refreshing = null;
  }
  async function follow() {
    if (!document.hidden) await refresh();
    setTimeout(follow, POLL);
  }
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });

  // All runs

  function startRuns() {
    show("runs");
    let version = "", drawn = null, before = "";
    const chosen = new Set();
    async function compare() {
      const names = [...chosen];
      $("comparison").hidden = names.length < 1;
      if (!names.length) { before = ""; return; }
      const text = JSON.stringify((await get("/api/compare", names.map((name) => ["name", name]))).runs);
      if (text === before) return;
      before = text;
      drawCompared(JSON.parse(text));
    }
    function drawCompared(runs) {
      const points = runs.flatMap((run) => run.y), most = Math.max(1, ...runs.flatMap((run) => run.x));
      drawn = chart($("compared"), {
        label: "The best value so far of " + runs.map((run) => run.name).join(", "),
        x: [0, most * 1.01], wholeX: true, y: extent(points), height: (width) => Math.min(240, wide(width)), xLabel: "evaluations", yLabel: "best value",
        draw(svg, x, y) {
          runs.forEach((run, row) => figures.draw(svg, "path", { class: `line series-${row % 6}`, d: stepPath(run.x, run.y, x, y) }));
        },
      });
      $("compared-legend").replaceChildren();
      runs.forEach((run, row) => { const item = add($("compared-legend"), "li"); add(item, "span", "", `swatch series-${row % 6}`).setAttribute("aria-hidden", "true"); add(item, "span", run.name); });
    }
    refreshPage = async () => {
      const found = await get("/api/runs", { version });
      if (found) { version = found.version; fillParts(found.parts); for (const box of document.querySelectorAll("input[name=compare]")) box.checked = chosen.has(box.value); }
      if (found || (chosen.size && !before)) await compare();
    };
    document.addEventListener("change", (event) => {
      if (!event.target.matches("input[name=compare]")) return;
      if (event.target.checked) chosen.add(event.target.value); else chosen.delete(event.target.value);
      compare().catch((error) => trouble(error.message));
    });
    addEventListener("resize", () => { if (drawn) drawn.resize(); });
  }

  // One run

  let map = null, drawing = null, curve = null;
  function startRun(name) {
    show("run");
    current = name;
    $("run-name").textContent = name;
    document.title = name + " – graphbo";
    let version = "", wanted = "", shown = "", rows = 25;
    refreshPage = async () => {
      const found = await get("/api/run", { name, version, rows });
      if (found) {
        version = found.version;
        wanted = version.split(".")[0];
        fillParts(found.parts);
        fillCards(found.cards);
        const count = $("ask").elements.count;
        if (found.left !== null) count.max = Math.max(1, Math.min(50, found.left)); else count.max = 50;
      }
      if (shown !== wanted) shown = await drawFigures(name);
    };
    document.addEventListener("click", (event) => { if (event.target.id === "more") { rows += 200; refresh(); } });
    // A spreadsheet expects numbers as they are written where its user lives.
    $("take-out").elements.decimal.value = (1.5).toLocaleString().includes(",") ? "comma" : "point";
    $("take-out").addEventListener("submit", (event) => { event.preventDefault(); takeOut(name).catch((error) => trouble(error.message)); });
    $("find").addEventListener("submit", async (event) => {
      event.preventDefault();
      try { look((await get("/api/find", { name, text: $("find-key").value })).key); } catch (error) { say(error.message); }
    });
    addEventListener("resize", () => { if (map) map.resize(); if (curve) curve.resize(); });
    startSheet(name);
  }

  const before = new WeakMap();
  function fillCards(cards) {
    const holder = $("cards"), there = new Map([...holder.children].map((one) => [one.dataset.id, one])), mine = me();
    $("no-cards").hidden = cards.length > 0;
    for (const [id, element] of there) if (!cards.some((card) => card.id === id)) element.remove();
    for (const { id, html } of cards) {
      let element = there.get(id);
      if (!element) { element = document.createElement("div"); element.dataset.id = id; holder.append(element); }
      if (before.get(element) === html || element.querySelector("[data-dirty]")) continue;
      const focus = focusIn(element);
      fill(element, html);
      before.set(element, html);
      focus();
    }
    for (const one of holder.querySelectorAll(".node-card")) one.classList.toggle("mine", one.dataset.person === mine.replaceAll(":", " "));
  }

  async function drawFigures(name) {
    const data = await get("/api/figures", { name });
    $("mapless").textContent = data.mapless || "The map is drawn when something has been asked for.";
    $("mapless").hidden = Boolean(data.map);
    $("map-holder").hidden = !data.map;
    $("caption-map").textContent = data.map ? data.captions.map : "";
    $("caption-convergence").textContent = data.captions.convergence;
    drawing = data;
    if (data.map) drawMap(data);
    if (data.steps.value.some(figures.isNumber)) curve = convergence($("convergence"), data, { tip });
    else { curve = null; $("convergence").replaceChildren(); add($("convergence"), "p", "No value yet.", "empty"); }
    return data.version;
  }
  function drawMap(data) {
    if (map) map.update(data);
    else {
      map = mapOn($("map"), data, { tip, buttons: { in: $("zoom-in"), out: $("zoom-out"), reset: $("zoom-reset") }, pick: (row) => look(drawing.map.id[row]) });
      for (const choice of document.querySelectorAll("input[name=colour]")) choice.addEventListener("change", () => { map.colourBy(choice.value); sayLegend(); });
    }
    for (const choice of document.querySelectorAll("input[name=colour]")) choice.disabled = !map.scaleOf(choice.value).any && choice.value !== "value";
    $("connector-key").hidden = !data.map.connectors;
    sayLegend();
  }
  function sayLegend() { [$("legend-low").textContent, $("legend-high").textContent] = map.legend(); }
  function showOnMap(key) {
    const row = drawing && drawing.map ? drawing.map.id.indexOf(key) : -1;
    if (row < 0) { say("It is not among the nodes that are drawn"); return; }
    $("map-frame").scrollIntoView({ block: "center" });
    $("map").focus({ preventScroll: true });
    // The tip hides while the page scrolls.
    setTimeout(() => map.look(row), SOON);
  }

  // A node

  async function look(key) {
    try {
      const found = await get("/api/node", { name: current, key });
      fill($("panel-body"), found.html);
      $("panel-wrong").textContent = "";
      if (!$("panel").open) $("panel").showModal();
    } catch (error) { say(error.message); }
  }
  $("panel").querySelector(".close").addEventListener("click", () => $("panel").close());

  // Spreadsheets

  async function takeOut(name) {
    const answer = await ask("/api/sheet?" + new URLSearchParams({ name, decimal: $("take-out").elements.decimal.value })), link = document.createElement("a");
    link.href = URL.createObjectURL(await answer.blob());
    link.download = name.replace(/[^\w.-]+/g, "-") + ".csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  function startSheet(name) {
    const form = $("sheet"), preview = $("sheet-preview");
    const query = () => ({ name, person: me(), ...Object.fromEntries([...new FormData(form)].filter(([field, value]) => field && typeof value === "string" && value)) });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try { fill(preview, (await upload("/api/sheet/look", query(), $("sheet-file").files[0])).html); } catch (error) { preview.replaceChildren(); add(preview, "p", error.message, "wrong"); }
    });
    form.addEventListener("input", () => preview.replaceChildren());
    preview.addEventListener("click", async (event) => {
      if (event.target.id !== "sheet-tell") return;
      if (!me() && !await meet()) return;
      event.target.disabled = true;
      try {
        say((await upload("/api/sheet/tell", query(), $("sheet-file").files[0])).said);
        preview.replaceChildren(); form.reset();
        await refresh();
      } catch (error) { preview.replaceChildren(); add(preview, "p", error.message, "wrong"); }
    });
  }

  // Starting a run

  async function startForm() {
    show("start");
    const holder = $("start-form");
    const load = async () => { if (holder.childElementCount) return; fill(holder, (await get("/api/form")).html); wire(); };
    function wire() {
      const form = $("start"), data = () => ({ ...Object.fromEntries(new FormData(form)), person: me() });
      const wrong = (text) => { $("findings").replaceChildren(); add($("findings"), "p", text, "wrong"); };
      let asked = 0, typing = 0;
      async function examine() {
        const mine = ++asked;
        try {
          const found = await post("/api/examine", data());
          if (mine === asked) fill($("findings"), found.html);
        } catch (error) { if (mine === asked) wrong(error.message); }
      }
      $("examine").addEventListener("click", examine);
      form.addEventListener("change", (event) => { if (["name", "budget", "goal", "seed"].includes(event.target.name)) return; clearTimeout(typing); typing = setTimeout(examine, SOON); });
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        if (!me() && !await meet()) return;
        try { location.assign("/run?" + new URLSearchParams({ name: (await post("/api/start", data())).name })); } catch (error) { ++asked; wrong(error.message); }
      });
      $("start-name").focus();
      if (form.elements.label.value && form.elements.rel.value) examine();
    }
    refreshPage = load;
  }

  const query = new URLSearchParams(location.search);
  const here = { "/": "to-runs", "/start": "to-start" }[location.pathname];
  if (here) $(here).setAttribute("aria-current", "page");
  if (!localStorage.getItem("graphbo-token")) show("token");
  else {
    if (location.pathname === "/run" && query.get("name")) startRun(query.get("name"));
    else if (location.pathname === "/start" && !readOnly) startForm();
    else startRuns();
    follow();
  }
})();
