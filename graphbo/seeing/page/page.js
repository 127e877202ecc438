"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const steps = data.steps, count = steps.key.length;
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";

  // Text and elements. Whatever people named reaches the page as text only.

  function add(parent, tag, text, kind) {
    const element = document.createElement(tag);
    if (text !== undefined && text !== null) element.textContent = text;
    if (kind) element.className = kind;
    parent.append(element);
    return element;
  }
  function draw(parent, tag, attributes, text) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }
  function format(value, digits = 5) {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(2).replace("-", "−").replace("e+", "e");
    return String(Number(value.toPrecision(digits))).replace("-", "−");
  }
  const isNumber = (value) => value !== null && value !== undefined;
  function definitions(list, pairs) {
    for (const [name, value] of pairs) { add(list, "dt", name); add(list, "dd", value); }
  }

  // The answer

  $("name").textContent = data.name;
  $("subtitle").textContent = data.subtitle;
  $("pill").textContent = data.state === "running" ? "in progress" : data.state;
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

  // The tip: what is under the pointer or has the focus

  const tip = $("tip");
  function showTip(x, y, title, pairs) {
    tip.replaceChildren();
    add(tip, "strong", title);
    definitions(add(tip, "dl"), pairs);
    tip.hidden = false;
    const box = tip.getBoundingClientRect(), margin = 12;
    let left = x + 16, top = y + 16;
    if (left + box.width > innerWidth - margin) left = x - box.width - 16;
    if (top + box.height > innerHeight - margin) top = y - box.height - 16;
    tip.style.left = Math.max(margin, Math.min(left, innerWidth - box.width - margin)) + "px";
    tip.style.top = Math.max(margin, top) + "px";
  }
  const hideTip = () => { tip.hidden = true; };
  addEventListener("scroll", hideTip, { passive: true });
  addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

  function factsOfStep(i) {
    const pairs = [];
    const when = steps.phase[i] === "known" ? "known value" : "evaluation " + steps.x[i];
    pairs.push(["value", isNumber(steps.value[i]) ? format(steps.value[i], 6) : "failed"]);
    if (steps.error[i]) pairs.push(["error", steps.error[i]]);
    pairs.push(["when", when]);
    if (steps.phase[i] !== "known") pairs.push(["how", { initial: "random, to begin with", model: "chosen by the model", restart: "random, in a new region", search: "reached by the search" }[steps.phase[i]] + (steps.region[i] > 1 ? ", region " + steps.region[i] : "")]);
    if (isNumber(steps.mean[i])) pairs.push(["expected", format(steps.mean[i]) + " ± " + format(steps.std[i], 3)]);
    if (isNumber(steps.acquisition[i])) pairs.push(["promise", format(steps.acquisition[i], 3)]);
    return pairs;
  }

  // Charts

  function extent(values, pad = 0.06) {
    let low = Infinity, high = -Infinity;
    for (const value of values) if (isNumber(value)) { low = Math.min(low, value); high = Math.max(high, value); }
    if (low > high) return [0, 1];
    if (low === high) { const room = Math.abs(low) * 0.1 || 1; return [low - room, high + room]; }
    // Shares of each end: the difference of two very large numbers may be no number.
    const room = high * pad - low * pad;
    return [low - room, high + room];
  }
  function ticks([low, high], wanted) {
    const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough * 0.999);
    if (!(step > 0) || !Number.isFinite(step)) return [];
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high && found.length < 50; i++) found.push(Number((i * step).toPrecision(12)));
    return found;
  }
  const charts = [];
  function chart(id, options) {
    const holder = $(id);
    let width = 0;
    const render = () => {
      width = holder.clientWidth || 600;
      const height = options.height(width), left = 58, right = 14, top = 28, bottom = 42;
      holder.replaceChildren();
      const svg = draw(holder, "svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": options.label });
      const x = (value) => left + (width - left - right) * (value / 2 - options.x[0] / 2) / ((options.x[1] / 2 - options.x[0] / 2) || 1);
      const y = (value) => height - bottom - (height - top - bottom) * (value / 2 - options.y[0] / 2) / ((options.y[1] / 2 - options.y[0] / 2) || 1);
      for (const tick of ticks(options.y, Math.max(3, height / 60))) {
        draw(svg, "line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) });
        draw(svg, "text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, options.yTick ? options.yTick(tick) : format(tick));
      }
      for (const tick of ticks(options.x, Math.max(3, width / 110))) {
        if (options.wholeX && tick % 1) continue;
        draw(svg, "text", { x: x(tick), y: height - bottom + 18, "text-anchor": "middle" }, format(tick));
      }
      draw(svg, "line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom });
      draw(svg, "text", { x: width - right, y: height - 6, "text-anchor": "end" }, options.xLabel);
      draw(svg, "text", { x: left - 46, y: 12 }, options.yLabel);
      options.draw(svg, x, y, { left, right: width - right, top, bottom: height - bottom });
      if (options.points) points(svg, x, y);
    };
    function points(svg, x, y) {
      const pick = draw(svg, "circle", { class: "pick", r: 6, visibility: "hidden" });
      const near = (event) => {
        const box = svg.getBoundingClientRect(), scale = width / box.width;
        const px = (event.clientX - box.left) * scale, py = (event.clientY - box.top) * scale;
        let best = null, least = 900;
        for (const point of options.points) {
          const distance = (x(point.x) - px) ** 2 + (y(point.y) - py) ** 2;
          if (distance < least) { least = distance; best = point; }
        }
        return best;
      };
      svg.addEventListener("pointermove", (event) => {
        const point = near(event);
        pick.setAttribute("visibility", point ? "visible" : "hidden");
        if (point) { pick.setAttribute("cx", x(point.x)); pick.setAttribute("cy", y(point.y)); }
        if (point) showTip(event.clientX, event.clientY, steps.key[point.step], point.facts ? point.facts() : factsOfStep(point.step));
        else hideTip();
      });
      svg.addEventListener("pointerleave", () => { pick.setAttribute("visibility", "hidden"); hideTip(); });
      svg.addEventListener("click", (event) => { const point = near(event); if (point) goTo(point.step + 1); });
    }
    render();
    charts.push(() => { if (holder.clientWidth && holder.clientWidth !== width) render(); });
    return render;
  }
  function nothing(id, text) { const holder = $(id); holder.replaceChildren(); add(holder, "p", text, "empty"); }
  const rows = [...Array(count).keys()];
  const valued = rows.filter((i) => isNumber(steps.value[i]));
  const wide = (width) => Math.max(220, Math.min(330, width * 0.42));
  const small = (width) => Math.max(210, Math.min(280, width * 0.62));

  // How it went

  let position = count;
  function stepPath(xs, ys, x, y) {
    let path = "", last = null;
    for (let i = 0; i < xs.length; i++) {
      if (!isNumber(ys[i])) { continue; }
      path += last === null ? `M${x(xs[i])} ${y(ys[i])}` : `H${x(xs[i]).toFixed(1)}V${y(ys[i]).toFixed(1)}`;
      last = i;
    }
    return path;
  }
  let placeCursor = () => {};
  if (valued.length) {
    const last = steps.x[count - 1];
    chart("convergence", {
      label: "Values and the best so far, by evaluation. " + data.captions.convergence,
      x: [0, Math.max(1, last) * 1.01], wholeX: true,
      y: extent([...steps.value, data.optimum]), height: wide, xLabel: "evaluations", yLabel: "value",
      points: valued.map((i) => ({ x: steps.x[i], y: steps.value[i], step: i })),
      draw(svg, x, y, box) {
        if (isNumber(data.optimum)) {
          draw(svg, "line", { class: "reference", x1: box.left, x2: box.right, y1: y(data.optimum), y2: y(data.optimum) });
          draw(svg, "text", { x: box.right, y: y(data.optimum) - 6, "text-anchor": "end" }, "optimum " + format(data.optimum));
        }
        for (const i of valued) draw(svg, "circle", { class: steps.phase[i] === "known" ? "dot known" : "dot", r: 3, cx: x(steps.x[i]).toFixed(1), cy: y(steps.value[i]).toFixed(1) });
        for (const i of rows) if (!isNumber(steps.value[i])) { const at = x(steps.x[i]); draw(svg, "path", { class: "failure", d: `M${at - 3} ${box.bottom - 9}l6 6m0-6l-6 6` }); }
        draw(svg, "path", { class: "line", d: stepPath(steps.x, steps.best, x, y) });
        const best = data.best ? data.best.index : -1;
        if (best >= 0 && isNumber(steps.value[best])) draw(svg, "circle", { class: "dot best", r: 5, cx: x(steps.x[best]), cy: y(steps.value[best]) });
        const cursor = draw(svg, "line", { class: "cursor", y1: box.top, y2: box.bottom });
        placeCursor = () => {
          const at = x(position ? steps.x[position - 1] : 0);
          cursor.setAttribute("visibility", position === count ? "hidden" : "visible");
          cursor.setAttribute("x1", at); cursor.setAttribute("x2", at);
        };
        placeCursor();
      },
    });
  } else nothing("convergence", count ? "Every measurement failed." : "Nothing has been measured yet.");

  // Did the model know?

  const predicted = valued.filter((i) => isNumber(steps.mean[i]) && steps.std[i] > 0);
  if (predicted.length) {
    const all = extent([...predicted.map((i) => steps.mean[i]), ...predicted.map((i) => steps.value[i])]);
    chart("calibration", {
      label: data.captions.calibration, x: all, y: all, height: (width) => Math.max(240, Math.min(340, width * 0.8)),
      xLabel: "expected", yLabel: "measured",
      points: predicted.map((i) => ({ x: steps.mean[i], y: steps.value[i], step: i })),
      draw(svg, x, y, box) {
        const clip = draw(svg, "clipPath", { id: "inside" });
        draw(clip, "rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top });
        const inner = draw(svg, "g", { "clip-path": "url(#inside)" });
        inner.style.setProperty("--fade", Math.max(0.05, Math.min(0.28, 30 / predicted.length)));
        draw(inner, "line", { class: "reference", x1: x(all[0]), y1: y(all[0]), x2: x(all[1]), y2: y(all[1]) });
        for (const i of predicted) {
          const reach = 1.96 * steps.std[i];
          draw(inner, "line", { class: "interval", x1: x(steps.mean[i] - reach).toFixed(1), x2: x(steps.mean[i] + reach).toFixed(1), y1: y(steps.value[i]).toFixed(1), y2: y(steps.value[i]).toFixed(1) });
        }
        for (const i of predicted) draw(inner, "circle", { class: "dot cool", r: 3, cx: x(steps.mean[i]).toFixed(1), cy: y(steps.value[i]).toFixed(1) });
      },
    });
    for (const [level, inside, of] of data.coverage) {
      const part = add($("coverage"), "div");
      add(part, "dt", `in the ${Math.round(level * 100)} % interval`); add(part, "dd", `${Math.round(100 * inside / of)} %`);
    }
  } else nothing("calibration", "No predictions.");

  // What the model learned

  if (data.kernel) {
    const { x: modes, y: weights, zeros } = data.kernel;
    const logs = weights.map((weight) => Math.log10(Math.max(weight, 1e-12)));
    const top = Math.max(...logs), shown = logs.map((one) => Math.max(one, top - 8));
    const superscript = (tick) => tick % 1 ? "" : "10" + String(tick).replace("-", "−").replace(/[−0-9]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["−0123456789".indexOf(c)]);
    chart("kernel", {
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
    chart("region", {
      label: data.captions.region, x: [0, Math.max(1, at[count - 1]) * 1.01], wholeX: true, y: [0, extent([...size, ...failures, 5])[1]], height: small,
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
    chart("time", {
      label: data.captions.time, x: [0, Math.max(1, steps.x[count - 1]) * 1.01], wholeX: true, y: range, height: small,
      xLabel: "evaluations", yLabel: "time to the result", yTick: spoken,
      points: timed.map((i) => ({ x: steps.x[i], y: logs[i], step: i, facts: () => [["took", format(steps.seconds[i], 3) + " s"], ...factsOfStep(i)] })),
      draw(svg, x, y) {
        for (const i of timed) draw(svg, "circle", { class: "dot cool", r: 2.6, cx: x(steps.x[i]).toFixed(1), cy: y(logs[i]).toFixed(1) });
      },
    });
  } else nothing("time", "No times.");

  // Where it looked

  const RAMP = ["3f51b8", "7b4db9", "b9479c", "e1556c", "f2893e", "f9bb3c"].map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  function rampColour(share) {
    const place = Math.max(0, Math.min(1, share)) * (RAMP.length - 1), low = Math.min(RAMP.length - 2, Math.floor(place)), part = place - low;
    return `rgb(${RAMP[low].map((one, c) => Math.round(one + part * (RAMP[low + 1][c] - one))).join()})`;
  }
  const PALETTE = Array.from({ length: 65 }, (_, i) => rampColour(i / 64));
  let goTo = () => {};
  const graph = data.map;
  if (graph) startMap();
  else { nothing("map-frame", "Nothing has been measured yet."); $("map-controls").remove(); document.querySelector(".replay").remove(); $("map-help").remove(); }

  function startMap() {
    const canvas = $("map"), pen = canvas.getContext("2d"), back = document.createElement("canvas"), backPen = back.getContext("2d");
    const nodes = graph.key.length, places = graph.x.length, rowOfStep = new Map(graph.index.map((step, row) => [step, row]).filter(([step]) => step >= 0));
    const pending = new Set(graph.pending), bestRow = data.best ? rowOfStep.get(data.best.index) : undefined;
    let colour = "value", zoom = 1, shiftX = 0, shiftY = 0, focused = -1, theme = {}, width = 0, height = 0, timer = 0;
    canvas.setAttribute("aria-label", graph.summary);

    function readTheme() {
      const style = getComputedStyle(document.documentElement);
      for (const name of ["card", "ink", "soft", "edge", "node", "connector", "rim", "accent", "cool"]) theme[name] = style.getPropertyValue("--" + name).trim();
    }
    // Measured nodes show what was said of them when they were chosen; the others, what the model says now.
    function shade(row) {
      const step = graph.index[row];
      if (step >= 0 && step < position) return steps[colour][step];
      if (colour === "value" || position < count || !graph.now) return null;
      return graph.now[colour][row];
    }
    const scales = {};
    function scaleOf(name) {
      if (scales[name]) return scales[name];
      const all = [...steps[name], ...(name !== "value" && graph.now ? graph.now[name] : [])].filter(isNumber).sort((a, b) => a - b);
      const at = (share) => all.length ? all[Math.round(share * (all.length - 1))] : 0;
      // A few extreme beliefs are not to leave one colour for all the others; values are what they are.
      const edge = name === "value" ? 0 : 0.02, low = at(edge), high = at(1 - edge), flipped = (name === "value" || name === "mean") && !data.maximize;
      return scales[name] = { low, high, flipped, any: all.length > 0 };
    }
    function paint(value) {
      const { low, high, flipped } = scaleOf(colour);
      const share = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
      return PALETTE[Math.round(64 * Math.max(0, Math.min(1, flipped ? 1 - share : share)))];
    }
    const spanX = Math.max(...graph.x) - Math.min(...graph.x) || 1, spanY = Math.max(...graph.y) - Math.min(...graph.y) || 1;
    // A frame that is wider than the graph stretches it, though not beyond recognition.
    let fitX = 1, fitY = 1;
    function fit() {
      fitX = (width - 44) / spanX; fitY = (height - 44) / spanY;
      fitX = Math.min(fitX, 1.5 * fitY); fitY = Math.min(fitY, 1.5 * fitX);
    }
    const px = (row) => width / 2 + (graph.x[row] * fitX + shiftX) * zoom, py = (row) => height / 2 - (graph.y[row] * fitY + shiftY) * zoom;
    const radius = Math.max(4, Math.min(7, 100 / Math.sqrt(nodes)));

    function resize() {
      const ratio = Math.min(3, devicePixelRatio || 1), box = canvas.getBoundingClientRect();
      width = box.width; height = box.height; fit();
      for (const one of [canvas, back]) { one.width = Math.round(width * ratio); one.height = Math.round(height * ratio); }
      for (const one of [pen, backPen]) one.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawBack();
    }
    // Relationships and unmeasured nodes do not change with the slider.
    function drawBack() {
      readTheme();
      backPen.clearRect(0, 0, width, height);
      backPen.strokeStyle = theme.edge;
      backPen.lineWidth = Math.max(0.4, Math.min(1.2, 1600 / graph.edges.length));
      backPen.beginPath();
      for (let i = 0; i < graph.edges.length; i += 2) { backPen.moveTo(px(graph.edges[i]), py(graph.edges[i])); backPen.lineTo(px(graph.edges[i + 1]), py(graph.edges[i + 1])); }
      backPen.stroke();
      backPen.fillStyle = theme.node;
      backPen.beginPath();
      for (let row = 0; row < nodes; row++) { backPen.moveTo(px(row) + radius * 0.38, py(row)); backPen.arc(px(row), py(row), radius * 0.38 * Math.sqrt(zoom), 0, 7); }
      backPen.fill();
      // Connectors come last; nothing is ever measured there.
      backPen.fillStyle = theme.connector;
      const side = Math.max(4.5, radius * 0.75) * Math.sqrt(zoom);
      for (let row = nodes; row < places; row++) backPen.fillRect(px(row) - side / 2, py(row) - side / 2, side, side);
      drawMap();
    }
    function disc(row, size, fill, rim, line) {
      pen.beginPath(); pen.arc(px(row), py(row), size, 0, 7);
      if (fill) { pen.fillStyle = fill; pen.fill(); }
      if (rim) { pen.strokeStyle = rim; pen.lineWidth = line; pen.stroke(); }
    }
    function drawMap() {
      pen.clearRect(0, 0, width, height);
      pen.drawImage(back, 0, 0, width, height);
      const size = radius * Math.sqrt(zoom), atEnd = position === count;
      if (atEnd && graph.now) for (let row = 0; row < nodes; row++) {
        if (graph.index[row] >= 0 || !isNumber(graph.now.mean[row])) continue;
        const value = shade(row);
        disc(row, size * 0.62, isNumber(value) ? paint(value) : theme.node, theme.cool, 1);
      }
      for (let step = 0; step < position; step++) {
        const row = rowOfStep.get(step);
        if (row === undefined) continue;
        const value = shade(row);
        if (!isNumber(steps.value[step])) {
          pen.strokeStyle = theme.accent; pen.lineWidth = 1.8; pen.beginPath();
          for (const way of [1, -1]) { pen.moveTo(px(row) - size * 0.7, py(row) - way * size * 0.7); pen.lineTo(px(row) + size * 0.7, py(row) + way * size * 0.7); }
          pen.stroke();
        } else if (isNumber(value)) disc(row, size, paint(value), theme.rim, 1.2);
        else disc(row, size * 0.85, theme.card, theme.soft, 1.4);
      }
      if (atEnd) for (const row of pending) { pen.setLineDash([3, 2]); disc(row, size * 1.2, null, theme.ink, 1.6); pen.setLineDash([]); }
      if (bestRow !== undefined && data.best.index < position) disc(bestRow, size * 1.75, null, theme.ink, 2.2);
      const latest = rowOfStep.get(position - 1);
      if (!atEnd && latest !== undefined) disc(latest, size * 2.1, null, theme.accent, 2.2);
      if (focused >= 0) disc(focused, size * 1.5, null, theme.cool, 3);
    }
    function legend() {
      const { low, high, flipped, any } = scaleOf(colour);
      const words = { value: ["", ""], mean: ["", ""], std: ["± ", "± "], acquisition: ["", ""] }[colour];
      const [first, last] = flipped ? [high, low] : [low, high];
      $("legend-low").textContent = any ? words[0] + format(first, 3) : "";
      $("legend-high").textContent = any ? words[1] + format(last, 3) + { value: ", best", mean: ", best", std: ", unsure", acquisition: ", promising" }[colour] : "";
    }
    function said() {
      if (!position) return `before the first of ${count}`;
      return `${position} of ${count}, best ${format(steps.best[position - 1], 4)}`;
    }
    goTo = (wanted) => {
      position = Math.max(0, Math.min(count, wanted));
      $("slider").value = position;
      $("slider").setAttribute("aria-valuetext", said());
      $("slider-text").textContent = said();
      placeCursor(); drawMap();
    };

    // Looking at a node

    function describe(row) {
      const step = graph.index[row], pairs = step >= 0 ? factsOfStep(step) : [["value", pending.has(row) ? "being evaluated" : "not measured"]];
      if (step < 0 && graph.now && isNumber(graph.now.mean[row])) {
        pairs.push(["expected", format(graph.now.mean[row]) + " ± " + format(graph.now.std[row], 3)]);
        if (isNumber(graph.now.acquisition[row])) pairs.push(["promise", format(graph.now.acquisition[row], 3)]);
        if (graph.why[row]) pairs.push(["why", graph.why[row]]);
      }
      return [...pairs, ...graph.properties[row]];
    }
    function look(row) {
      if (row === focused) return;
      focused = row;
      drawMap();
      if (row < 0) { hideTip(); return; }
      const box = canvas.getBoundingClientRect();
      showTip(box.left + px(row), box.top + py(row), graph.key[row], describe(row));
    }
    function nearest(event) {
      const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
      let found = -1, least = 260;
      for (let row = 0; row < nodes; row++) {
        const measured = graph.index[row] >= 0 && graph.index[row] < position;
        const distance = ((px(row) - x) ** 2 + (py(row) - y) ** 2) * (measured ? 0.35 : 1);
        if (distance < least) { least = distance; found = row; }
      }
      return found;
    }
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY }; if (zoom > 1) canvas.setPointerCapture(event.pointerId); look(nearest(event)); });
    canvas.addEventListener("pointermove", (event) => {
      if (drag && zoom > 1 && event.buttons) {
        shiftX += (event.clientX - drag.x) / zoom; shiftY -= (event.clientY - drag.y) / zoom;
        drag = { x: event.clientX, y: event.clientY };
        hideTip(); drawBack();
      } else look(nearest(event));
    });
    addEventListener("pointerup", () => { drag = null; });
    canvas.addEventListener("pointerleave", () => look(-1));
    canvas.addEventListener("blur", () => look(-1));
    function magnify(factor) {
      zoom = Math.max(1, Math.min(16, zoom * factor));
      if (zoom === 1) shiftX = shiftY = 0;
      else if (focused >= 0) { shiftX = -graph.x[focused] * fitX; shiftY = -graph.y[focused] * fitY; }
      canvas.classList.toggle("zoomed", zoom > 1);
      hideTip(); drawBack();
    }
    $("zoom-in").addEventListener("click", () => magnify(1.6));
    $("zoom-out").addEventListener("click", () => magnify(1 / 1.6));
    $("zoom-reset").addEventListener("click", () => { focused = -1; magnify(0); });
    canvas.addEventListener("wheel", (event) => { if (event.ctrlKey || event.metaKey) { event.preventDefault(); magnify(event.deltaY < 0 ? 1.2 : 1 / 1.2); } }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const order = rows.filter((step) => step < position && rowOfStep.has(step));
      const at = order.indexOf(focused >= 0 ? graph.index[focused] : -1), last = order.length - 1;
      const wanted = { ArrowRight: Math.min(last, at + 1), ArrowDown: Math.min(last, at + 1), ArrowLeft: at < 0 ? last : Math.max(0, at - 1), ArrowUp: at < 0 ? last : Math.max(0, at - 1), Home: 0, End: last }[event.key];
      if (wanted !== undefined && last >= 0) { event.preventDefault(); look(rowOfStep.get(order[wanted])); }
      else if ((event.key === "b" || event.key === "B") && bestRow !== undefined) look(bestRow);
      else if (event.key === "+" || event.key === "=") magnify(1.6);
      else if (event.key === "-") magnify(1 / 1.6);
      else if (event.key === "0") { focused = -1; magnify(0); }
      else if (event.key === "Escape") look(-1);
    });

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
      choice.disabled = !scaleOf(choice.value).any && choice.value !== "value";
      choice.addEventListener("change", () => { colour = choice.value; legend(); drawMap(); });
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawBack);
    matchMedia("print").addEventListener("change", drawBack);
    charts.push(() => { const box = canvas.getBoundingClientRect(); if (box.width && (box.width !== width || box.height !== height)) resize(); });
    if (graph.connectors) $("connector-key").hidden = false;
    legend(); resize(); goTo(count);
  }

  // The measurements

  function table(holder, shown) {
    const head = add(add(holder, "thead"), "tr");
    for (const [title, kind] of [["evaluation", "number"], ["node"], ["value", "number"], ["expected", "number"], ["how"]]) { const cell = add(head, "th", title, kind); cell.scope = "col"; }
    const body = add(holder, "tbody");
    for (const i of shown) {
      const row = add(body, "tr", null, data.best && data.best.index === i ? "is-best" : "");
      add(row, "td", steps.phase[i] === "known" ? "–" : steps.x[i], "number");
      add(row, "td", steps.key[i], "key");
      add(row, "td", isNumber(steps.value[i]) ? format(steps.value[i], 6) : "failed", "number");
      add(row, "td", isNumber(steps.mean[i]) ? format(steps.mean[i], 4) + " ± " + format(steps.std[i], 3) : "", "number");
      add(row, "td", steps.error[i] || { initial: "random", restart: "random, new region" }[steps.phase[i]] || steps.phase[i]);
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
  addEventListener("resize", () => { cancelAnimationFrame(resized); resized = requestAnimationFrame(() => charts.forEach((one) => one())); });
})();
