"use strict";
(() => {
  const { add, chart, convergence, definitions, draw, extent, factsOfStep, format, isNumber, mapOn, tipIn } = figures;
  const data = JSON.parse(document.getElementById("data").textContent);
  const steps = data.steps, count = steps.key.length;
  const $ = (id) => document.getElementById(id);
  const tip = tipIn($("tip"));
  let goTo = () => {};
  const drawn = [];
  const plot = (id, options) => drawn.push(chart($(id), { tip, pick: (point) => goTo(point.step + 1), ...options }));
  const pointAt = (i, x, y, more = []) => ({ x, y, step: i, title: steps.key[i], facts: () => [...more, ...factsOfStep(steps, i)] });

  // The answer

  $("name").textContent = data.name;
  $("subtitle").textContent = data.subtitle;
  $("pill").textContent = data.state === "running" ? (data.atWork ? "in progress" : "open") : data.state;
  $("pill").className = data.state;
  $("state-text").textContent = data.stateText;
  for (const [name, text] of Object.entries(data.captions)) $("caption-" + name).textContent = text;
  if (data.best) {
    $("best-key").textContent = data.best.key;
    $("best-key").classList.toggle("long", data.best.key.length > 60);
    add($("best-value"), "span", "with a value of ");
    add($("best-value"), "strong", format(data.best.value, 6));
    if (isNumber(data.best.mean)) add($("best-value"), "span", ", believed to be " + format(data.best.mean, 6));
    $("best-why").textContent = data.best.why ? "Why it was measured: " + data.best.why + "." : "";
    definitions($("best-properties"), data.best.properties);
  } else {
    $("best-key").textContent = "None yet";
    $("best-value").textContent = count ? "Every measurement failed so far." : "Nothing has been measured so far.";
  }
  if (!data.best || !data.best.properties.length) $("best-properties").remove();
  for (const [name, value, remark] of data.tiles) {
    const tile = add($("tiles"), "div");
    add(tile, "dt", name); add(tile, "dd", value, "number"); add(tile, "dd", remark, "remark");
  }

  // What to measure next, in a run that goes on

  if (data.next && data.next.length) {
    $("next").hidden = false;
    for (const one of data.next) {
      const item = add($("next-nodes"), "li");
      add(item, "strong", one.key);
      add(item, "span", " – " + one.how, "how");
      if (one.why) add(item, "p", one.why[0].toUpperCase() + one.why.slice(1) + ".");
    }
  }

  // Charts

  function nothing(id, text) { const holder = $(id); holder.replaceChildren(); add(holder, "p", text, "empty"); }
  const rows = [...Array(count).keys()];
  const valued = rows.filter((i) => isNumber(steps.value[i]));
  const small = (width) => Math.max(210, Math.min(280, width * 0.62));

  // How it went

  if (valued.length) drawn.push(convergence($("convergence"), data, { tip, pick: (point) => goTo(point.step + 1) }));
  else nothing("convergence", count ? "Every measurement failed." : "Nothing has been measured yet.");

  // Did the model know?

  const predicted = valued.filter((i) => isNumber(steps.mean[i]) && steps.std[i] > 0);
  if (data.coverage.length) {
    const all = extent([...predicted.map((i) => steps.mean[i]), ...predicted.map((i) => steps.value[i])]);
    plot("calibration", {
      label: data.captions.calibration, x: all, y: all, height: (width) => Math.max(240, Math.min(340, width * 0.8)),
      xLabel: "expected", yLabel: "measured",
      points: predicted.map((i) => pointAt(i, steps.mean[i], steps.value[i])),
      draw(svg, x, y, box, mark) {
        const clip = draw(svg, "clipPath", { id: "inside" });
        draw(clip, "rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top });
        const inner = draw(svg, "g", { "clip-path": "url(#inside)" });
        inner.style.setProperty("--fade", Math.max(0.05, Math.min(0.28, 30 / predicted.length)));
        draw(inner, "line", { class: "reference", x1: x(all[0]), y1: y(all[0]), x2: x(all[1]), y2: y(all[1]) });
        for (const i of predicted) {
          const reach = 1.96 * steps.std[i];
          mark(i, draw(inner, "line", { class: "interval", x1: x(steps.mean[i] - reach).toFixed(1), x2: x(steps.mean[i] + reach).toFixed(1), y1: y(steps.value[i]).toFixed(1), y2: y(steps.value[i]).toFixed(1) }));
        }
        for (const i of predicted) mark(i, draw(inner, "circle", { class: "dot cool", r: 3, cx: x(steps.mean[i]).toFixed(1), cy: y(steps.value[i]).toFixed(1) }));
      },
    });
    for (const [level, inside, of] of data.coverage) {
      const part = add($("coverage"), "div");
      add(part, "dt", `in the ${Math.round(level * 100)} % interval`); add(part, "dd", `${Math.round(100 * inside / of)} %`);
    }
  } else nothing("calibration", predicted.length ? "Too few predictions yet." : "No predictions.");

  // What the model learned

  if (data.kernel) {
    const { x: modes, y: weights, zeros } = data.kernel;
    const logs = weights.map((weight) => Math.log10(Math.max(weight, 1e-12)));
    const top = Math.max(...logs), shown = logs.map((one) => Math.max(one, top - 8));
    const superscript = (tick) => tick % 1 ? "" : "10" + String(tick).replace("-", "−").replace(/[−0-9]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["−0123456789".indexOf(c)]);
    plot("kernel", {
      label: data.captions.kernel, x: [-0.02, Math.max(0.2, modes[modes.length - 1]) * 1.03], y: extent(shown), height: small,
      xLabel: "eigenvalue λ: smooth → rough", yLabel: "weight r⁻¹(λ)", yTick: superscript,
      draw(svg, x, y) {
        let path = "";
        for (let i = zeros; i < modes.length; i++) path += `${path ? "L" : "M"}${x(modes[i]).toFixed(1)} ${y(shown[i]).toFixed(1)}`;
        if (path) draw(svg, "path", { class: "line cool", d: path });
        for (let i = 0; i < modes.length; i++) draw(svg, "circle", { class: i < zeros ? "dot best" : "dot cool", r: i < zeros ? 4 : 2.2, cx: x(modes[i]).toFixed(1), cy: y(shown[i]).toFixed(1) });
        if (zeros) draw(svg, "text", { class: "mark", x: x(modes[0]) + 10, y: y(shown[0]) + 4 }, "the constant");
      },
    });
  } else nothing("kernel", "No model.");

  // The region

  if (data.region && count) {
    const { x: at, size, failures, restart, label } = data.region;
    plot("region", {
      steps: at, label: data.captions.region, x: [0, Math.max(1, at[count - 1]) * 1.01], wholeX: true, y: [0, extent([...size, ...failures, 5])[1]], height: small,
      xLabel: "evaluations", yLabel: label,
      draw(svg, x, y, box) {
        const thick = Math.max(1, (box.right - box.left) / Math.max(20, count) * 0.8);
        for (let i = 0; i < count; i++) if (failures[i]) draw(svg, "rect", { class: "bar", x: (x(at[i]) - thick / 2).toFixed(1), width: thick.toFixed(1), y: y(failures[i]).toFixed(1), height: (box.bottom - y(failures[i])).toFixed(1) });
        for (let i = 1; i < count; i++) if (restart[i] !== restart[i - 1]) {
          draw(svg, "line", { class: "move", x1: x(at[i]), x2: x(at[i]), y1: box.top, y2: box.bottom });
        }
        let path = "", on = false;
        for (let i = 0; i < count; i++) {
          if (!isNumber(size[i])) { on = false; continue; }
          path += `${on ? "L" : "M"}${x(at[i]).toFixed(1)} ${y(size[i]).toFixed(1)}`; on = true;
        }
        if (path) draw(svg, "path", { class: "line", d: path });
      },
    });
  } else nothing("region", "No region.");

  // Time per step

  const timed = rows.filter((i) => isNumber(steps.seconds[i]));
  if (timed.length) {
    const logs = steps.seconds.map((one) => isNumber(one) ? Math.log10(Math.max(one, 0.001)) : null);
    const range = extent(logs);
    range[0] = Math.floor(range[0] * 2) / 2; range[1] = Math.ceil(range[1] * 2) / 2;
    const spoken = (tick) => tick % 1 ? "" : tick < 0 ? `${format(1000 * 10 ** tick, 2)} ms` : tick < 3 ? `${10 ** tick} s` : `${format(10 ** tick / 3600, 2)} h`;
    plot("time", {
      steps: steps.x, label: data.captions.time, x: [0, Math.max(1, steps.x[count - 1]) * 1.01], wholeX: true, y: range, height: small,
      xLabel: "evaluations", yLabel: "time to the result", yTick: spoken,
      points: timed.map((i) => pointAt(i, steps.x[i], logs[i], [["took", format(steps.seconds[i], 3) + " s"]])),
      draw(svg, x, y) {
        for (const i of timed) draw(svg, "circle", { class: "dot cool", r: 2.6, cx: x(steps.x[i]).toFixed(1), cy: y(logs[i]).toFixed(1) });
      },
    });
  } else nothing("time", "No times.");

  // Where it looked

  if (data.map) startMap();
  else { nothing("map-frame", "Nothing has been measured yet."); $("map-controls").remove(); document.querySelector(".replay").remove(); $("map-help").remove(); }

  function startMap() {
    const map = mapOn($("map"), data, { tip, buttons: { in: $("zoom-in"), out: $("zoom-out"), reset: $("zoom-reset") } });
    let position = count, timer = 0;
    function legend() { [$("legend-low").textContent, $("legend-high").textContent] = map.legend(); }
    function said() {
      if (!position) return `before the first of ${count}`;
      return `${position} of ${count}, best ${format(steps.best[position - 1], 4)}`;
    }
    goTo = (wanted) => {
      position = Math.max(0, Math.min(count, wanted));
      $("slider").value = position;
      $("slider").setAttribute("aria-valuetext", said());
      $("slider-text").textContent = said();
      for (const one of drawn) one.goTo(position);
    };
    // As much room as the longest text needs: the slider is not to change under the hand that moves it.
    const before = position;
    let longest = 0;
    for (position = 0; position <= count; position++) longest = Math.max(longest, said().length);
    position = before;
    $("slider-text").style.flexBasis = longest + 1 + "ch";

    // Replaying

    const slider = $("slider"), play = $("play");
    slider.max = count;
    slider.addEventListener("input", () => { stop(); goTo(Number(slider.value)); });
    function stop() { cancelAnimationFrame(timer); timer = 0; play.classList.remove("playing"); $("play-text").textContent = "Replay"; play.setAttribute("aria-label", "Replay the search"); }
    play.addEventListener("click", () => {
      if (timer) { stop(); return; }
      const from = position >= count ? 0 : position, whole = Math.max(2500, Math.min(15000, count * 120)), began = performance.now();
      play.classList.add("playing"); $("play-text").textContent = "Pause"; play.setAttribute("aria-label", "Pause the replay");
      const frame = (now) => {
        const wanted = Math.min(count, from + Math.floor(count * (now - began) / whole));
        if (wanted !== position) goTo(wanted);
        if (wanted >= count) stop(); else timer = requestAnimationFrame(frame);
      };
      goTo(from); timer = requestAnimationFrame(frame);
    });
    for (const choice of document.querySelectorAll("input[name=colour]")) {
      choice.disabled = !map.scaleOf(choice.value).any && choice.value !== "value";
      choice.addEventListener("change", () => { map.colourBy(choice.value); legend(); });
    }
    drawn.push(map);
    if (data.map.connectors) $("connector-key").hidden = false;
    legend(); goTo(count);
  }

  // The measurements

  function table(holder, shown) {
    const head = add(add(holder, "thead"), "tr");
    for (const [title, kind] of [["evaluation", "number"], ["node"], ["value", "number"], ["expected", "number"], ["how"]]) { const cell = add(head, "th", title, kind); cell.scope = "col"; }
    const body = add(holder, "tbody");
    for (const i of shown) {
      const row = add(body, "tr", null, data.best && data.best.index === i ? "is-best" : "");
      add(row, "td", steps.phase[i] === "known" ? "–" : steps.step[i], "number");
      add(row, "td", steps.key[i], "key");
      add(row, "td", isNumber(steps.value[i]) ? format(steps.value[i], 6) : "failed", "number");
      add(row, "td", isNumber(steps.mean[i]) ? format(steps.mean[i], 4) + " ± " + format(steps.std[i], 3) : "", "number");
      add(row, "td", steps.error[i] || { initial: "random", restart: "random, new region", chosen: "by hand" }[steps.phase[i]] || steps.phase[i]);
    }
  }
  if (valued.length) table($("top"), [...valued].sort((a, b) => (data.maximize ? 1 : -1) * (steps.value[b] - steps.value[a]) || a - b).slice(0, 10));
  else $("top").remove();
  if (count) {
    $("history-summary").textContent = count === 1 ? "The one measurement" : `All ${count.toLocaleString("en")} in the order of telling`;
    $("history").addEventListener("toggle", () => { const body = $("history-body"); if (!body.childElementCount) { table(add(body, "table"), rows); body.tabIndex = 0; } });
  } else { $("history").remove(); add($("measurements"), "p", "None yet.", "empty"); }

  // To do it again

  if (data.command) {
    $("command").textContent = data.command;
    $("copy").addEventListener("click", () => {
      const done = () => { $("copy").textContent = "Copied"; setTimeout(() => { $("copy").textContent = "Copy"; }, 1500); };
      const select = () => { getSelection().selectAllChildren($("command")); $("copy").textContent = "Selected"; };
      if (navigator.clipboard) navigator.clipboard.writeText(data.command).then(done, select); else select();
    });
  } else $("command-box").remove();
  definitions($("configuration"), data.configuration);
  $("made-by").textContent = `Made by graphbo ${data.version}. This file is complete: it fetches nothing.`;

  let resized = 0;
  addEventListener("resize", () => { cancelAnimationFrame(resized); resized = requestAnimationFrame(() => drawn.forEach((one) => one.resize())); });
})();
