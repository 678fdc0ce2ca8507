// The picture of a tree or decision graph: pan, zoom, open and close nodes, follow a row.
// Nodes come with parents before children; the still picture stays for print and without script.
(() => {
  "use strict";
  const data = document.getElementById("model-data");
  if (!data) return;
  const model = JSON.parse(data.textContent);
  const nodes = model.nodes;
  const BOX = { width: 124, height: 58, room: 136, level: 98 };
  const DOT = { width: 13, height: 13, room: 17, level: 40 };
  const MOST_BOXES = 160; // more nodes than these are drawn as dots
  const open = new Set(model.open);
  const parents = nodes.map(() => []);
  nodes.forEach((node, i) => node.children.forEach((child, side) => parents[child].push([i, side])));

  // ---------------------------------------------------------------- elements
  const html = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };
  const svg = (name, attributes = {}, text = null) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== null) element.textContent = text;
    return element;
  };
  const button = (text, label, action) =>
    html("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);

  const canvas = svg("svg", { role: "tree", "aria-label": `${model.name}: nodes of the model`, "data-test": "canvas" });
  const world = svg("g");
  canvas.append(world);
  const tools = html("div", { class: "tools" },
    button("+", "Zoom in", () => zoom(1.4)),
    button("−", "Zoom out", () => zoom(1 / 1.4)),
    button("Fit", "Show everything that is open", () => fit()),
    button("Open all", "Open all nodes", () => { nodes.forEach((n, i) => n.children.length && open.add(i)); draw(); fit(); }),
    button("Close", "Show the upper part again", () => { open.clear(); model.open.forEach((i) => open.add(i)); draw(); fit(); }));
  const detail = html("div", { "aria-live": "polite", "data-test": "detail" });
  const follow = html("div", { "data-test": "follow" });
  const keys = html("p", { class: "note" });
  keys.append("Drag to move; pinch", html("span", { class: "mouse" }, ", or ", html("kbd", {}, "Ctrl"), " and wheel,"),
    " to zoom; click a node to open or close it.", html("span", { class: "mouse" }, " Keys: arrows, ",
      html("kbd", {}, "Enter"), ", ", html("kbd", {}, "+"), ", ", html("kbd", {}, "−"), ", ", html("kbd", {}, "0"), "."));
  const viewer = document.getElementById("viewer");
  viewer.append(
    html("div", {}, html("div", { class: "stage" }, tools, canvas), keys),
    html("div", { class: "side" }, follow, detail));
  viewer.hidden = false;
  document.documentElement.classList.add("js");

  // ---------------------------------------------------------------- layout
  const shown = () => {
    const found = new Set([0]);
    for (const i of [...nodes.keys()]) if (found.has(i) && open.has(i)) nodes[i].children.forEach((c) => found.add(c));
    return [...found].sort((a, b) => a - b);
  };

  // Each node hangs below one parent, the lowest; subtrees are put as close together as they fit.
  function layOut(visible) {
    if (visible.length === nodes.length) return visible.map((i) => [i, nodes[i].x, nodes[i].layer]);
    const layer = new Map([[0, 0]]), owner = new Map();
    for (const i of visible) {
      if (!open.has(i)) continue;
      for (const c of nodes[i].children) {
        if (layer.get(i) + 1 > (layer.get(c) ?? 0)) { layer.set(c, layer.get(i) + 1); owner.set(c, i); }
      }
    }
    const owned = new Map(visible.map((i) => [i, []]));
    for (const i of visible) if (owner.has(i)) owned.get(owner.get(i)).push(i);
    const offset = new Map(), contour = new Map();
    for (const i of [...visible].reverse()) {
      const left = [], right = [], shifts = [];
      const below = owned.get(i).sort((a, b) => nodes[a].x - nodes[b].x);
      for (const c of below) {
        const [nextLeft, nextRight] = contour.get(c);
        let shift = 0;
        nextLeft.forEach((value, k) => { if (right[k] !== undefined) shift = Math.max(shift, right[k] - value); });
        shifts.push(shift);
        nextLeft.forEach((value, k) => { left[k] ??= value + shift; });
        nextRight.forEach((value, k) => { right[k] = value + shift; });
        contour.delete(c);
      }
      const middle = shifts.length ? (shifts[0] + shifts.at(-1)) / 2 : 0;
      below.forEach((c, k) => offset.set(c, shifts[k] - middle));
      const k = layer.get(i);
      left.forEach((value, j) => { left[j] = value - middle; });
      right.forEach((value, j) => { right[j] = value - middle; });
      left[k] = -0.5; right[k] = 0.5;
      contour.set(i, [left, right]);
    }
    const x = new Map([[0, 0]]);
    for (const i of visible) if (owner.has(i)) x.set(i, x.get(owner.get(i)) + offset.get(i));
    return visible.map((i) => [i, x.get(i), layer.get(i)]);
  }

  // ---------------------------------------------------------------- drawing
  let view = { x: 0, y: 0, scale: 1 };
  let place = new Map(), elements = new Map(), links = new Map(), size = BOX, current = 0, path = [];
  const bounds = (values) => values.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);

  // Levels move apart where the picture is wider than high.
  function spread(places) {
    const [left, right] = bounds(places.map((p) => p[1])), deepest = bounds(places.map((p) => p[2]))[1];
    const shape = canvas.clientHeight / (canvas.clientWidth || 1);
    const wanted = ((right - left + 1) * size.room * shape - size.height - 56) / Math.max(deepest, 1);
    return Math.min(Math.max(wanted, size.level), (size === DOT ? 14 : 1.7) * size.level);
  }

  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
  // A text cut to so many pixels; of a test the name is cut, and the number stays.
  function short(text, most) {
    const width = (part) => ruler.measureText(part).width;
    if (width(text) <= most) return text;
    const test = text.match(/.( (?:<=|>|=|!=) \S+)$/)?.[1] ?? "";
    const rest = width(`nam…${test}`) <= most ? test : "";
    let end = Math.min(text.length - rest.length, Math.ceil(most / 3));
    while (end > 1 && width(`${text.slice(0, end)}…${rest}`) > most) end--;
    return `${text.slice(0, end).trimEnd()}…${rest}`;
  }
  // What a node says, in two lines: the feature and what is asked of it.
  function said(node, most) {
    const text = isLeaf(node) ? node.outcome : node.question ?? node.yes, name = model.names[node.feature];
    if (name !== undefined && text.startsWith(`${name} `)) return [short(name, most), short(text.slice(name.length + 1), most)];
    const words = text.split(" "), first = [words.shift()];
    while (words.length && ruler.measureText([...first, words[0]].join(" ")).width <= most) first.push(words.shift());
    return [first, words].filter((line) => line.length).map((line) => short(line.join(" "), most));
  }
  const count = (n) => `${n.toLocaleString("en")} ${n === 1 ? "row" : "rows"}`;
  const percent = (p) => (p > 0 && p < 0.01 ? "< 1 %" : `${Math.round(100 * p)} %`);
  const isLeaf = (node) => node.yes === undefined;
  const summary = (node) => {
    const what = isLeaf(node) ? `leaf: ${node.outcome}` : node.question ?? node.yes;
    const sure = model.classes && node.value.length ? `, ${model.classes[node.value[0][0]]} ${percent(node.value[0][1])}` : "";
    return `${what}, ${count(node.rows)}${sure}${node.shared ? ", shared by several branches" : ""}`;
  };

  function draw() {
    const visible = shown();
    size = visible.length > MOST_BOXES ? DOT : BOX;
    const places = layOut(visible), level = spread(places);
    place = new Map(places.map(([i, x, layer]) => [i, [x * size.room, layer * level]]));
    world.replaceChildren();
    world.classList.toggle("dots", size === DOT);
    elements = new Map(); links = new Map();
    const total = nodes[0].rows || 1;
    for (const i of visible) {
      if (!open.has(i)) continue;
      nodes[i].children.forEach((child, side) => {
        const [x1, y1] = place.get(i), [x2, y2] = place.get(child);
        const middle = (y1 + y2) / 2;
        const share = nodes[child].rows / total / parents[child].length;
        const line = svg("path", {
          class: side === 0 ? "branch" : "branch no",
          d: `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`,
          "stroke-width": (size === DOT ? 0.8 : 1) + 5 * Math.sqrt(share) * (size === DOT ? 0.4 : 1),
        });
        links.set(`${i}-${side}`, line);
        world.append(line);
      });
    }
    for (const i of visible) {
      const element = box(i);
      elements.set(i, element);
      world.append(element);
    }
    if (!elements.has(current)) current = 0;
    elements.get(current).setAttribute("tabindex", "0");
    light();
    show();
  }

  function box(i) {
    const node = nodes[i], [x, y] = place.get(i), { width, height } = size;
    const group = svg("g", {
      class: "node", role: "treeitem", tabindex: "-1", transform: `translate(${x} ${y})`, "data-node": i,
      "aria-label": summary(node), "aria-level": nodes[i].layer + 1,
    });
    if (node.children.length) group.setAttribute("aria-expanded", String(open.has(i)));
    const corner = size === DOT ? (isLeaf(node) ? width / 2 : 3) : 7;
    group.append(svg("rect", {
      class: node.shared ? "box shared" : "box", x: -width / 2, y: -height / 2, width, height, rx: corner, style: `--colour:${node.colour}`,
    }));
    if (size === DOT) return listen(group, i);
    const sure = isLeaf(node) && model.classes && node.value.length ? `${percent(node.value[0][1])} of ` : "";
    const lines = said(node, width - 10).map((text) => ["label strong", text]);
    lines.push(["label", node.rows || !sure ? sure + count(node.rows) : percent(node.value[0][1])]);
    lines.forEach(([style, text], k) => group.append(svg("text", { class: style, y: 14 * k - 7 * lines.length + 8 }, text)));
    if (model.classes) {
      let start = -width / 2 + 8;
      for (const [k, p] of node.value) {
        group.append(svg("rect", { class: "share", x: start, y: 21, width: p * (width - 16), height: 4, fill: model.colours[k] }));
        start += p * (width - 16);
      }
    }
    if (node.children.length && !open.has(i)) group.append(svg("text", { class: "more", y: height / 2 + 14 }, "⋯ open"));
    else if (node.rest) group.append(svg("text", { class: "more", y: height / 2 + 14 }, `⋯ ${node.rest}`));
    return listen(group, i);
  }

  function listen(group, i) {
    const isDrawn = () => elements.get(i) === group; // an element of a former drawing may still get events
    group.addEventListener("pointerenter", () => inspect(i));
    group.addEventListener("focus", () => { if (isDrawn()) { current = i; inspect(i); } });
    group.addEventListener("click", () => { if (isDrawn() && !moved) toggle(i); });
    return group;
  }

  function toggle(i) {
    if (!nodes[i].children.length) return inspect(i);
    const [x, y] = place.get(i);
    if (open.has(i)) open.delete(i); else open.add(i);
    current = i;
    draw();
    // The node stays where it was on the screen.
    const [nowX, nowY] = place.get(i);
    view.x += (x - nowX) * view.scale; view.y += (y - nowY) * view.scale;
    show();
    elements.get(i).focus({ preventScroll: true });
  }

  // ---------------------------------------------------------------- pan and zoom
  function show() {
    world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
    world.classList.toggle("far", size === BOX && view.scale < 0.42);
    // However small the scale, a dot keeps two pixels.
    world.style.setProperty("--grow", size === DOT ? Math.max(1, 2.4 / (DOT.width * view.scale)) : 1);
    canvas.dataset.scale = view.scale;
  }

  function zoom(factor, at = null) {
    const frame = canvas.getBoundingClientRect();
    const [x, y] = at ?? [frame.width / 2, frame.height / 2];
    const scale = Math.min(Math.max(view.scale * factor, 0.02), 6);
    view = { x: x - (x - view.x) * scale / view.scale, y: y - (y - view.y) * scale / view.scale, scale };
    show();
  }

  // Shows all nodes, or some of them, and on a phone at least the root.
  function fit(some = [...place.keys()], least = canvas.clientWidth < 600 ? 0.7 : 0) {
    const frame = canvas.getBoundingClientRect();
    const [left, right] = bounds(some.map((i) => place.get(i)[0])), [top, bottom] = bounds(some.map((i) => place.get(i)[1]));
    const width = right - left + size.room, height = bottom - top + size.height + 40;
    let scale = Math.min(frame.width / width, (frame.height - 16) / height, 1.2);
    if (size === BOX) scale = Math.max(scale, least);
    const middle = scale * width <= frame.width + 1 ? (left + right) / 2 : place.get(some[0])[0];
    view = { x: frame.width / 2 - scale * middle, y: 14 - scale * (top - size.height / 2), scale };
    show();
  }

  // Brings a node into view.
  function reveal(i) {
    const frame = canvas.getBoundingClientRect(), [x, y] = place.get(i);
    const [sx, sy] = [x * view.scale + view.x, y * view.scale + view.y];
    const margin = Math.min(44, frame.width / 4);
    view.x += Math.max(margin - sx, 0) - Math.max(sx - frame.width + margin, 0);
    view.y += Math.max(margin - sy, 0) - Math.max(sy - frame.height + margin, 0);
    show();
  }

  const pointers = new Map();
  let moved = false;
  canvas.addEventListener("pointerdown", (event) => {
    if (pointers.size === 0) moved = false;
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
  });
  window.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    const before = [...pointers.values()];
    const old = pointers.get(event.pointerId);
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    const after = [...pointers.values()];
    if (pointers.size === 1) {
      if (!moved && Math.hypot(event.clientX - old[0], event.clientY - old[1]) < 3) { pointers.set(event.pointerId, old); return; }
      view.x += event.clientX - old[0]; view.y += event.clientY - old[1];
    } else {
      const distance = (p) => Math.hypot(p[0][0] - p[1][0], p[0][1] - p[1][1]) || 1;
      const middle = (p) => [(p[0][0] + p[1][0]) / 2, (p[0][1] + p[1][1]) / 2];
      const [from, to] = [middle(before), middle(after)], frame = canvas.getBoundingClientRect();
      view.x += to[0] - from[0]; view.y += to[1] - from[1];
      zoom(distance(after) / distance(before), [to[0] - frame.left, to[1] - frame.top]);
    }
    moved = true;
    canvas.classList.add("dragging");
    show();
  });
  const release = (event) => { pointers.delete(event.pointerId); canvas.classList.remove("dragging"); };
  window.addEventListener("pointerup", release);
  window.addEventListener("pointercancel", release);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    const frame = canvas.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 300), [event.clientX - frame.left, event.clientY - frame.top]);
  }, { passive: false });

  canvas.addEventListener("keydown", (event) => {
    const neighbour = (step) => {
      const [x, y] = place.get(current);
      const row = [...place].filter(([, p]) => p[1] === y).sort((a, b) => a[1][0] - b[1][0]).map(([i]) => i);
      return row[row.indexOf(current) + step];
    };
    const actions = {
      ArrowDown: () => (open.has(current) ? nodes[current].children[0] : undefined),
      ArrowUp: () => parents[current].map(([p]) => p).find((p) => place.has(p) && open.has(p)),
      ArrowLeft: () => neighbour(-1), ArrowRight: () => neighbour(1), Home: () => 0,
    };
    if (actions[event.key]) {
      const next = actions[event.key]();
      if (next !== undefined) focus(next);
    } else if (event.key === "Enter" || event.key === " ") toggle(current);
    else if (event.key === "+" || event.key === "=") zoom(1.4);
    else if (event.key === "-") zoom(1 / 1.4);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });

  function focus(i) {
    elements.get(current)?.setAttribute("tabindex", "-1");
    current = i;
    const element = elements.get(i);
    element.setAttribute("tabindex", "0");
    element.focus({ preventScroll: true });
    reveal(i);
  }

  // ---------------------------------------------------------------- one node in words
  function wayTo(i) {
    const steps = [];
    while (i !== 0) {
      const [parent, side] = parents[i].find(([p, s]) => links.get(`${p}-${s}`)?.classList.contains("lit")) ?? parents[i][0];
      steps.unshift([nodes[parent], side === 0]);
      i = parent;
    }
    return merged(steps);
  }

  // Several tests of one feature as one: "2.5 < x <= 3.5", "colour in {red, blue}".
  function merged(steps) {
    const tested = new Map(), lines = [];
    for (const [node, passed] of steps) {
      const text = passed ? node.yes : node.no, key = node.feature;
      if (key === undefined) { lines.push({ text }); continue; }
      if (!tested.has(key)) {
        const feature = model.features.find((f) => f.index === key);
        tested.set(key, { feature, n: 0, missing: true, codes: feature.labels?.map((_, code) => code) });
        lines.push(tested.get(key));
      }
      const known = tested.get(key);
      known.n += 1;
      known.text = text;
      known.missing &&= Boolean(node.missing) === passed;
      if (known.codes) known.codes = known.codes.filter((code) => (node.codes?.includes(code) ?? code <= node.at) === passed);
      else {
        const bound = { value: node.at, text: text.match(/(?:<=|>) (\S+)/)?.[1] ?? String(node.at) };
        if (passed && !(known.high?.value <= bound.value)) known.high = bound;
        if (!passed && !(known.low?.value >= bound.value)) known.low = bound;
      }
    }
    return lines.map((line) => (line.n > 1 ? condition(line) : line.text));
  }

  function condition({ feature: { name, labels }, low, high, codes, missing }) {
    let text;
    if (codes) {
      const others = labels.filter((_, code) => !codes.includes(code)), isNegated = codes.length > 3 && others.length < codes.length;
      if (!codes.length) return missing ? `${name} is missing` : `no value of ${name}`;
      if (!others.length) return missing ? `${name} is anything` : `${name} is not missing`;
      const words = isNegated ? others : codes.map((code) => labels[code]);
      if (words.length > 4) words.splice(3, words.length, `... ${words.length - 3} more`);
      text = words.length === 1 ? `${name} ${isNegated ? "!=" : "="} ${words[0]}` : `${name} ${isNegated ? "not in" : "in"} {${words.join(", ")}}`;
      if (isNegated && !missing && model.tells_missing) text += " (and not missing)";
    } else text = low && high ? `${low.text} < ${name} <= ${high.text}` : low ? `${name} > ${low.text}` : `${name} <= ${high.text}`;
    return missing && model.tells_missing ? `${text} (or missing)` : text;
  }

  function distribution(node) {
    if (!model.classes) return html("p", { class: "outcome" }, isLeaf(node) ? `predicts ${node.outcome}` : `mean ${people(node.value)}`);
    const table = html("div", { class: "dist" });
    for (const [k, p] of node.value.slice(0, 6)) {
      table.append(
        html("span", { title: model.classes[k] }, model.classes[k]),
        html("i", { style: `width:${Math.max(100 * p, 1)}%;background:${model.colours[k]}` }),
        html("span", {}, percent(p)));
    }
    return table;
  }

  function inspect(i) {
    const node = nodes[i], steps = wayTo(i);
    const list = html("ol");
    for (const step of steps) list.append(html("li", {}, step));
    const ways = parents[i].length > 1 ? html("p", { class: "note" }, `One of ${parents[i].length} or more ways to this node.`) : "";
    detail.replaceChildren(
      html("h3", {}, isLeaf(node) ? `Leaf ${node.id}: ${node.outcome}` : `Node ${node.id}: ${node.question ?? node.yes}?`),
      html("p", { class: "note" }, count(node.rows) + (nodes[0].rows ? `, ${percent(node.rows / nodes[0].rows)} of all` : "")),
      distribution(node),
      steps.length ? html("h3", { style: "margin-top:10px" }, "Rule") : "", list, ways);
  }

  // ---------------------------------------------------------------- one row
  const values = new Map(model.features.map((feature) => [feature.index, null]));
  const fields = new Map();

  const people = (value) => value.toLocaleString("en", { maximumSignificantDigits: 5 });
  const brief = (value) => (value === null ? "" : String(Number(value.toPrecision(6))));

  function goesLeft(node) {
    if (node.terms) {
      let total = 0;
      for (const [feature, weight, centre, code, size] of node.terms) {
        const x = values.get(feature);
        if (code === undefined) total += x === null ? 0 : weight * (x - centre);
        else total += weight * ((x === null ? 1 / size : Number(x === code)) - centre);
      }
      return total < node.at;
    }
    const x = values.get(node.feature);
    if (x === null) return Boolean(node.missing);
    return node.codes ? node.codes.includes(x) : x <= node.at;
  }

  function walk() {
    const way = [0];
    let node = nodes[0];
    while (node.children.length) {
      const next = node.children[goesLeft(node) ? 0 : 1];
      way.push(next);
      node = nodes[next];
    }
    return way;
  }

  function light() {
    const side = (k) => nodes[path[k]].children.findIndex((c, s) => c === path[k + 1] && (!model.walks || s === (goesLeft(nodes[path[k]]) ? 0 : 1)));
    world.classList.toggle("following", path.length > 0);
    for (const [i, element] of elements) element.classList.toggle("lit", path.includes(i));
    for (const line of links.values()) line.classList.remove("lit");
    for (let k = 0; k + 1 < path.length; k++) links.get(`${path[k]}-${side(k)}`)?.classList.add("lit");
  }

  // What moved the answer of a row of the table, as bars: exact Shapley values, made with the report.
  function tellAdded(k) {
    const found = model.added?.rows[k];
    if (!found?.added.length) return;
    const most = Math.max(...found.added.map(([, value]) => Math.abs(value)));
    const signed = (value) => (value > 0 ? "+" : "−") + people(Number(Math.abs(value).toPrecision(3)));
    const bars = html("div", { class: "added", "data-test": "added" });
    for (const [feature, value] of found.added) {
      bars.append(html("span", { title: model.names[feature] }, model.names[feature]),
        html("b", {}, html("i", { class: value < 0 ? "less" : "", style: `width:${100 * Math.abs(value) / most}%` })),
        html("span", {}, signed(value)));
    }
    const what = model.classes ? `the probability of ${model.classes[found.output]}` : "the prediction";
    added.replaceChildren(html("h3", {}, "What moved it"),
      html("p", { class: "note" }, `From ${people(Number(model.added.base[found.output].toPrecision(3)))} on average, features add to ${what}:`), bars);
  }

  function take(way) {
    added.replaceChildren();
    path = way;
    const before = open.size;
    way.slice(0, -1).forEach((i) => open.add(i));
    if (open.size > before) draw(); else light();
    const met = new Set(way.flatMap((i) => (nodes[i].terms ? nodes[i].terms.map((t) => t[0]) : [nodes[i].feature])));
    for (const [feature, { label }] of fields) label.classList.toggle("met", met.has(feature));
    const end = way.at(-1);
    if (open.size > before) fit(way, 0.5);
    reveal(end);
    inspect(end);
    outcome.textContent = nodes[end].rest ? `Reaches node ${nodes[end].id}; the rest is not in this file.` : `Predicts ${nodes[end].outcome}.`;
  }

  const added = html("div");
  const outcome = html("p", { class: "outcome", role: "status", "data-test": "outcome" });
  const picker = html("select", { "aria-label": "Pick a row", "data-test": "pick", onchange: () => pick() });
  picker.append(html("option", { value: "" }, "pick a row …"));
  model.rows.forEach((row, k) => picker.append(html("option", { value: k }, `row ${row.row}: ${short(row.actual, 150)}`)));

  function pick(step = 0) {
    if (step) picker.selectedIndex = 1 + (picker.selectedIndex - 1 + step + model.rows.length) % model.rows.length;
    if (picker.value === "") { path = []; added.replaceChildren(); outcome.textContent = ""; return light(); }
    const row = model.rows[picker.value];
    if (!model.walks) { take(row.path); return tellAdded(Number(picker.value)); }
    model.features.forEach((feature, k) => {
      values.set(feature.index, row.values[k]);
      const field = fields.get(feature.index)?.input;
      if (field) field.value = feature.labels ? row.values[k] ?? "" : brief(row.values[k]);
    });
    take(walk());
    outcome.textContent += ` Actual: ${row.actual}.`;
    tellAdded(Number(picker.value));
  }

  follow.append(
    html("h3", {}, "Follow a row"),
    html("div", { class: "row" }, picker, button("‹", "Previous row", () => pick(-1)), button("›", "Next row", () => pick(1))),
    outcome, added);
  if (model.walks) {
    const form = html("div", { class: "fields", role: "group", "aria-label": "Values of the row" });
    for (const feature of model.features.slice(0, 200)) {
      const id = `feature-${feature.index}`;
      const change = () => {
        const text = input.value.trim().replace(",", ".");
        const value = text === "" ? null : Number(text);
        input.setAttribute("aria-invalid", String(Number.isNaN(value)));
        if (!Number.isNaN(value)) { values.set(feature.index, value); take(walk()); }
      };
      let input;
      if (feature.labels) {
        input = html("select", { id, onchange: change }, html("option", { value: "" }, "missing"));
        feature.labels.forEach((label, code) => input.append(html("option", { value: code }, label)));
      } else input = html("input", { id, inputmode: "decimal", placeholder: "missing", oninput: change });
      const label = html("label", { for: id, title: feature.name }, feature.name);
      fields.set(feature.index, { label, input });
      form.append(label, input);
    }
    follow.append(html("p", { class: "note" }, "or type one in:"), form);
  }

  draw();
  fit();
  inspect(0);
  let width = canvas.clientWidth;
  new ResizeObserver(() => { if (canvas.clientWidth !== width) { width = canvas.clientWidth; fit(); } }).observe(canvas);
})();
