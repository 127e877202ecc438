"use strict";
// What the report and the dashboard draw with: text, charts, and the map of a graph.
const figures = (() => {
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

  // The tip: what is under the pointer or has the focus

  function tipIn(tip) {
    const hide = () => { tip.hidden = true; };
    addEventListener("scroll", hide, { passive: true });
    addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
    function show(x, y, title, pairs) {
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
    return { show, hide };
  }

  // How a node came to be measured, for each phase that there is.
  const HOW = {
    initial: "random, to begin with",
    prior: "the most promising by the prior, to begin with",
    model: "chosen by the model",
    scout: "a scout, chosen by what is known of it",
    restart: "random, in a new region",
    search: "reached by the search",
    chosen: "named by a person",
  };
  function factsOfStep(steps, i) {
    const pairs = [];
    const when = steps.phase[i] === "known" ? "known value" : "evaluation " + steps.step[i];
    pairs.push(["value", isNumber(steps.value[i]) ? format(steps.value[i], 6) : "failed"]);
    if (steps.error[i]) pairs.push(["error", steps.error[i]]);
    pairs.push(["when", when]);
    if (steps.phase[i] !== "known") pairs.push(["how", HOW[steps.phase[i]] + (steps.region[i] > 1 ? ", region " + steps.region[i] : "")]);
    if (isNumber(steps.mean[i])) pairs.push(["expected", format(steps.mean[i]) + " ± " + format(steps.std[i], 3)]);
    if (steps.cost && isNumber(steps.cost[i])) pairs.push(["cost", format(steps.cost[i], 3)]);
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
  // A chart in a holder. Of the options, `points` may be pointed at, `tip` shows what they are, `pick` is called with one.
  // While a search is replayed, `goTo` hides what came later and lets nobody point at it: of a chart over evaluations,
  // whose `steps` say where each was, everything on the right; of another one, what `draw` has marked with its step.
  function chart(holder, options) {
    let width = 0, position = Infinity, hide = () => {};
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
      const box = { left, right: width - right, top, bottom: height - bottom }, marks = [];
      let past = svg, shown = null;
      if (options.steps) {
        const clip = draw(svg, "clipPath", { id: "past-" + holder.id });
        shown = draw(clip, "rect", { x: 0, y: 0, height });
        past = draw(svg, "g", { "clip-path": `url(#past-${holder.id})` });
      }
      options.draw(past, x, y, box, (step, element) => marks.push([step, element]), svg);
      hide = () => {
        for (const [step, element] of marks) element.setAttribute("visibility", step < position ? "visible" : "hidden");
        if (!shown) return;
        const at = options.steps, later = position < at.length, end = position ? at[position - 1] : -0.5;
        // Half of the way to the next one: dots are round.
        shown.setAttribute("width", later ? Math.max(0, x(end + Math.min(0.5, Math.max(0, at[position] - end) / 2))) : width);
      };
      hide();
      if (options.points) points(svg, x, y);
    };
    function points(svg, x, y) {
      const pick = draw(svg, "circle", { class: "pick", r: 6, visibility: "hidden" });
      const near = (event) => {
        const box = svg.getBoundingClientRect(), scale = width / box.width;
        const px = (event.clientX - box.left) * scale, py = (event.clientY - box.top) * scale;
        let best = null, least = 900;
        for (const point of options.points) {
          if (point.step >= position) continue;
          const distance = (x(point.x) - px) ** 2 + (y(point.y) - py) ** 2;
          if (distance < least) { least = distance; best = point; }
        }
        return best;
      };
      svg.addEventListener("pointermove", (event) => {
        const point = near(event);
        pick.setAttribute("visibility", point ? "visible" : "hidden");
        if (point) { pick.setAttribute("cx", x(point.x)); pick.setAttribute("cy", y(point.y)); }
        if (point) options.tip.show(event.clientX, event.clientY, point.title, point.facts());
        else options.tip.hide();
      });
      svg.addEventListener("pointerleave", () => { pick.setAttribute("visibility", "hidden"); options.tip.hide(); });
      svg.addEventListener("click", (event) => { const point = near(event); if (point && options.pick) options.pick(point); });
    }
    render();
    return {
      resize() { if (holder.clientWidth && holder.clientWidth !== width) render(); },
      goTo(wanted) { position = wanted; hide(); },
    };
  }
  function stepPath(xs, ys, x, y) {
    let path = "", last = null;
    for (let i = 0; i < xs.length; i++) {
      if (!isNumber(ys[i])) { continue; }
      path += last === null ? `M${x(xs[i])} ${y(ys[i])}` : `H${x(xs[i]).toFixed(1)}V${y(ys[i]).toFixed(1)}`;
      last = i;
    }
    return path;
  }
  const wide = (width) => Math.max(220, Math.min(330, width * 0.42));

  // Values and the best so far, up to the step of the search that `goTo` names.
  function convergence(holder, data, { tip, pick }) {
    const { steps } = data, count = steps.key.length, rows = [...Array(count).keys()];
    const valued = rows.filter((i) => isNumber(steps.value[i])), last = steps.x[count - 1];
    let place = () => {}, position = count;
    const drawn = chart(holder, {
      steps: steps.x,
      label: "Values and the best so far, by evaluation. " + data.captions.convergence,
      x: [0, Math.max(1, last) * 1.01], wholeX: true,
      y: extent([...steps.value, data.optimum]), height: wide, xLabel: "evaluations", yLabel: "value", tip, pick,
      points: valued.map((i) => ({ x: steps.x[i], y: steps.value[i], step: i, title: steps.key[i], facts: () => factsOfStep(steps, i) })),
      draw(svg, x, y, box, mark, whole) {
        if (isNumber(data.optimum)) {
          draw(whole, "line", { class: "reference", x1: box.left, x2: box.right, y1: y(data.optimum), y2: y(data.optimum) });
          draw(whole, "text", { x: box.right, y: y(data.optimum) - 6, "text-anchor": "end" }, "optimum " + format(data.optimum));
        }
        for (const i of valued) draw(svg, "circle", { class: steps.phase[i] === "known" ? "dot known" : "dot", r: 3, cx: x(steps.x[i]).toFixed(1), cy: y(steps.value[i]).toFixed(1) });
        for (const i of rows) if (!isNumber(steps.value[i])) { const at = x(steps.x[i]); draw(svg, "path", { class: "failure", d: `M${at - 3} ${box.bottom - 9}l6 6m0-6l-6 6` }); }
        draw(svg, "path", { class: "line", d: stepPath(steps.x, steps.best, x, y) });
        const best = data.best ? data.best.index : -1;
        // That it stays the best is known in the end only.
        if (best >= 0 && isNumber(steps.value[best])) mark(count - 1, draw(svg, "circle", { class: "dot best", r: 5, cx: x(steps.x[best]), cy: y(steps.value[best]) }));
        const cursor = draw(whole, "line", { class: "cursor", y1: box.top, y2: box.bottom });
        place = () => {
          const at = x(position ? steps.x[position - 1] : 0);
          cursor.setAttribute("visibility", position === count ? "hidden" : "visible");
          cursor.setAttribute("x1", at); cursor.setAttribute("x2", at);
        };
        place();
      },
    });
    return { ...drawn, goTo(wanted) { position = wanted; drawn.goTo(wanted); place(); } };
  }

  // The map

  const RAMP = ["3f51b8", "7b4db9", "b9479c", "e1556c", "f2893e", "f9bb3c"].map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  function rampColour(share) {
    const place = Math.max(0, Math.min(1, share)) * (RAMP.length - 1), low = Math.min(RAMP.length - 2, Math.floor(place)), part = place - low;
    return `rgb(${RAMP[low].map((one, c) => Math.round(one + part * (RAMP[low + 1][c] - one))).join()})`;
  }
  // With more nodes than this, those that are far from the search are faint.
  const CROWD = 250;
  const PALETTE = Array.from({ length: 65 }, (_, i) => rampColour(i / 64));

  // The nodes of a graph on a canvas: pointed at, walked through with the arrow keys, magnified. `buttons` are those that
  // zoom. With `pick`, it is called with the row of a node that is clicked, or chosen with Enter; Page Up and Page Down
  // walk through those that are not measured, the most promising first.
  function mapOn(canvas, first, { tip, buttons, pick }) {
    const pen = canvas.getContext("2d"), back = document.createElement("canvas"), backPen = back.getContext("2d");
    const theme = {};
    let data, graph, steps, count, nodes, places, rowOfStep, pending, excluded, bestOf, scales, radius, spanX, spanY, order, free;
    let colour = "value", position = 0, zoom = 1, shiftX = 0, shiftY = 0, focused = -1, width = 0, height = 0;

    function read(found) {
      data = found; graph = data.map; steps = data.steps; count = steps.key.length;
      nodes = graph.key.length; places = graph.x.length; scales = {};
      rowOfStep = new Map(graph.index.map((step, row) => [step, row]).filter(([step]) => step >= 0));
      pending = new Set(graph.pending); excluded = new Set(graph.excluded || []);
      bestOf = bestSoFar();
      radius = Math.max(4.6, Math.min(7, 100 / Math.sqrt(nodes)));
      spanX = Math.max(...graph.x) - Math.min(...graph.x) || 1; spanY = Math.max(...graph.y) - Math.min(...graph.y) || 1;
      order = [...Array(count).keys()].filter((step) => rowOfStep.has(step));
      const promise = (row) => graph.now && isNumber(graph.now.acquisition[row]) ? graph.now.acquisition[row] : -Infinity;
      free = [...Array(nodes).keys()].filter((row) => graph.index[row] < 0 && !excluded.has(row)).sort((a, b) => promise(b) - promise(a) || a - b);
      canvas.setAttribute("aria-label", graph.summary);
    }
    // Which observation was the best after so many; in the end the answer, which noise may have made another one.
    function bestSoFar() {
      const found = [-1];
      for (let step = 0; step < count; step++) {
        const before = found[step], value = steps.value[step];
        const better = isNumber(value) && (before < 0 || (data.maximize ? value > steps.value[before] : value < steps.value[before]));
        found.push(better ? step : before);
      }
      found[count] = data.best ? data.best.index : -1;
      return found;
    }
    const bestRow = () => rowOfStep.get(bestOf[position]);
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
    // A frame that is wider than the graph stretches it, though not beyond recognition.
    let fitX = 1, fitY = 1;
    function fit() {
      fitX = (width - 44) / spanX; fitY = (height - 44) / spanY;
      fitX = Math.min(fitX, 1.5 * fitY); fitY = Math.min(fitY, 1.5 * fitX);
    }
    const px = (row) => width / 2 + (graph.x[row] * fitX + shiftX) * zoom, py = (row) => height / 2 - (graph.y[row] * fitY + shiftY) * zoom;

    function resize() {
      const ratio = Math.min(3, devicePixelRatio || 1), box = canvas.getBoundingClientRect();
      width = box.width; height = box.height; fit();
      for (const one of [canvas, back]) { one.width = Math.round(width * ratio); one.height = Math.round(height * ratio); }
      for (const one of [pen, backPen]) one.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawBack();
    }
    // How far each node is from the search, as far as it has come: 0 if it is part of it, 1 beside a measured node, else
    // 2. In a small graph nothing is far.
    function distances() {
      const far = new Uint8Array(places), measured = new Uint8Array(places);
      if (nodes <= CROWD) return [far, measured];
      far.fill(2);
      for (let step = 0; step < position; step++) { const row = rowOfStep.get(step); if (row !== undefined) { far[row] = 0; measured[row] = 1; } }
      if (position === count) {
        for (const row of pending) far[row] = 0;
        if (graph.now) for (let row = 0; row < nodes; row++) if (isNumber(graph.now.mean[row])) far[row] = 0;
      }
      for (let i = 0; i < graph.edges.length; i += 2) {
        const a = graph.edges[i], b = graph.edges[i + 1];
        if (measured[a] && far[b] === 2) far[b] = 1;
        if (measured[b] && far[a] === 2) far[a] = 1;
      }
      return [far, measured];
    }
    // Relationships and nodes that are not measured. What is far from the search is faint, so that the rest can be read.
    function drawBack() {
      readTheme();
      const [far, measured] = distances(), links = [[], [], []];
      for (let i = 0; i < graph.edges.length; i += 2) {
        const a = graph.edges[i], b = graph.edges[i + 1];
        links[far[a] === 0 && far[b] === 0 ? 0 : measured[a] || measured[b] ? 1 : 2].push(a, b);
      }
      backPen.clearRect(0, 0, width, height);
      backPen.strokeStyle = theme.edge;
      backPen.lineWidth = Math.max(0.4, Math.min(1.2, 1600 / graph.edges.length));
      for (const level of [2, 1, 0]) {
        backPen.globalAlpha = [1, 0.7, 0.3][level];
        if (!level && nodes > CROWD) { backPen.strokeStyle = theme.node; backPen.lineWidth *= 1.6; }
        backPen.beginPath();
        for (let i = 0; i < links[level].length; i += 2) { const a = links[level][i], b = links[level][i + 1]; backPen.moveTo(px(a), py(a)); backPen.lineTo(px(b), py(b)); }
        backPen.stroke();
      }
      backPen.fillStyle = theme.node;
      const dot = radius * 0.38 * Math.sqrt(zoom);
      for (const level of [2, 1, 0]) {
        backPen.globalAlpha = [1, 1, 0.35][level];
        backPen.beginPath();
        for (let row = 0; row < nodes; row++) if (far[row] === level) { backPen.moveTo(px(row) + dot, py(row)); backPen.arc(px(row), py(row), dot, 0, 7); }
        backPen.fill();
      }
      backPen.globalAlpha = 1;
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
    function strike(row, size, ways, ink) {
      pen.strokeStyle = ink; pen.lineWidth = 1.8; pen.beginPath();
      for (const way of ways) { pen.moveTo(px(row) - size * 0.7, py(row) - way * size * 0.7); pen.lineTo(px(row) + size * 0.7, py(row) + way * size * 0.7); }
      pen.stroke();
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
        if (!isNumber(steps.value[step])) strike(row, size, [1, -1], theme.accent);
        else if (isNumber(value)) disc(row, size, paint(value), theme.rim, 1.2);
        else disc(row, size * 0.85, theme.card, theme.soft, 1.4);
      }
      if (atEnd) for (const row of excluded) { disc(row, size * 0.8, theme.card, theme.soft, 1.4); strike(row, size * 0.8, [1], theme.soft); }
      if (atEnd) for (const row of pending) { pen.setLineDash([3, 2]); disc(row, size * 1.2, null, theme.ink, 1.6); pen.setLineDash([]); }
      const best = bestRow();
      if (best !== undefined) disc(best, size * 1.75, null, theme.ink, 2.2);
      const latest = rowOfStep.get(position - 1);
      if (!atEnd && latest !== undefined) disc(latest, size * 2.1, null, theme.accent, 2.2);
      if (focused >= 0) disc(focused, size * 1.5, null, theme.cool, 3);
    }
    // What the ends of the colours mean.
    function legend() {
      const { low, high, flipped, any } = scaleOf(colour);
      const word = colour === "std" ? "± " : "", [start, end] = flipped ? [high, low] : [low, high];
      if (!any) return ["", ""];
      return [word + format(start, 3), word + format(end, 3) + { value: ", best", mean: ", best", std: ", unsure", acquisition: ", promising" }[colour]];
    }

    // Looking at a node

    function describe(row) {
      const step = graph.index[row];
      const atEnd = position === count, known = step >= 0 && step < position;
      // At an earlier step, nothing is said but what was known then.
      const state = !atEnd ? "not measured yet" : pending.has(row) ? "being evaluated" : excluded.has(row) ? "left alone" : "not measured";
      const pairs = known ? factsOfStep(steps, step) : [["value", state]];
      if (atEnd && step < 0 && graph.now && isNumber(graph.now.mean[row])) {
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
      if (row < 0) tip.hide(); else say(row);
    }
    function say(row) {
      const box = canvas.getBoundingClientRect();
      tip.show(box.left + px(row), box.top + py(row), graph.key[row], describe(row));
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
    let drag = null, moved = false;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.clientX, y: event.clientY }; moved = false;
      if (zoom > 1) canvas.setPointerCapture(event.pointerId);
      look(nearest(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (drag && zoom > 1 && event.buttons) {
        moved = moved || Math.abs(event.clientX - drag.x) + Math.abs(event.clientY - drag.y) > 2;
        shiftX += (event.clientX - drag.x) / zoom; shiftY -= (event.clientY - drag.y) / zoom;
        drag = { x: event.clientX, y: event.clientY };
        tip.hide(); drawBack();
      } else look(nearest(event));
    });
    addEventListener("pointerup", () => { drag = null; });
    canvas.addEventListener("pointerleave", () => look(-1));
    canvas.addEventListener("blur", () => look(-1));
    canvas.addEventListener("click", (event) => {
      const row = nearest(event);
      if (pick && row >= 0 && !moved) { tip.hide(); pick(row); }
    });
    function magnify(factor) {
      zoom = Math.max(1, Math.min(16, zoom * factor));
      if (zoom === 1) shiftX = shiftY = 0;
      else if (focused >= 0) { shiftX = -graph.x[focused] * fitX; shiftY = -graph.y[focused] * fitY; }
      canvas.classList.toggle("zoomed", zoom > 1);
      tip.hide(); drawBack();
    }
    buttons.in.addEventListener("click", () => magnify(1.6));
    buttons.out.addEventListener("click", () => magnify(1 / 1.6));
    buttons.reset.addEventListener("click", () => { focused = -1; magnify(0); });
    canvas.addEventListener("wheel", (event) => { if (event.ctrlKey || event.metaKey) { event.preventDefault(); magnify(event.deltaY < 0 ? 1.2 : 1 / 1.2); } }, { passive: false });
    function walk(key) {
      const seen = order.filter((step) => step < position), last = seen.length - 1;
      const at = seen.indexOf(focused >= 0 ? graph.index[focused] : -1), back = at < 0 ? last : Math.max(0, at - 1);
      const wanted = { ArrowRight: Math.min(last, at + 1), ArrowDown: Math.min(last, at + 1), ArrowLeft: back, ArrowUp: back, Home: 0, End: last }[key];
      if (wanted !== undefined && last >= 0) return rowOfStep.get(seen[wanted]);
      if (!pick || !free.length) return undefined;
      const place = free.indexOf(focused);
      return { PageDown: free[Math.min(free.length - 1, place + 1)], PageUp: free[Math.max(0, place - 1)] }[key];
    }
    canvas.addEventListener("keydown", (event) => {
      const row = walk(event.key);
      if (row !== undefined) { event.preventDefault(); look(row); }
      else if ((event.key === "b" || event.key === "B") && bestRow() !== undefined) look(bestRow());
      else if (event.key === "+" || event.key === "=") magnify(1.6);
      else if (event.key === "-") magnify(1 / 1.6);
      else if (event.key === "0") { focused = -1; magnify(0); }
      else if (event.key === "Enter" && pick && focused >= 0) { event.preventDefault(); const chosen = focused; look(-1); pick(chosen); }
      else if (event.key === "Escape") look(-1);
    });
    for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", () => drawBack());

    read(first); position = count; resize();
    return {
      legend, scaleOf,
      // What is there now, with the same part of it in view.
      update(found) {
        const key = focused >= 0 ? graph.key[focused] : null, before = graph.key.length, atEnd = position === count;
        read(found);
        position = atEnd ? count : Math.min(position, count);
        focused = key === null ? -1 : graph.key.indexOf(key);
        if (before !== graph.key.length) fit();
        drawBack();
      },
      look, colourBy(name) { colour = name; drawMap(); },
      goTo(wanted) {
        const moved = wanted !== position;
        position = wanted;
        if (moved && nodes > CROWD) drawBack(); else drawMap();
        if (moved && focused >= 0) say(focused);
      },
      resize() { const box = canvas.getBoundingClientRect(); if (box.width && (box.width !== width || box.height !== height)) resize(); },
    };
  }
  return { add, chart, convergence, definitions, draw, extent, factsOfStep, format, isNumber, mapOn, stepPath, tipIn, wide };
})();
