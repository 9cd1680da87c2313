// Draws the charts of the page from the data in it, and sorts its tables.
"use strict";
(() => {
  const { series, charts } = JSON.parse(document.getElementById("data").textContent);
  const colour = (i) => (i < 0 ? "var(--soft)" : `var(--s${series[i].colour})`);
  const dash = (i) => (i < 0 ? null : series[i].dash);
  const name = (row) => (row.series < 0 ? row.name : series[row.series].name);
  const style = { fontSize: "12px", fontFamily: "inherit", color: "inherit" };
  const charWidth = 6.9; // of the labels, a little more than the mean

  // number writes v as people do, with three figures or all before the point.
  const number = (v) => {
    const size = Math.abs(v);
    const text = size >= 1000 ? d3.format(",.0f")(size) : String(+size.toPrecision(3));
    return v < 0 && +text !== 0 ? "\u2212" + text : text;
  };
  const shown = (v, axis) => number(axis.percent ? 100 * v : v);

  // fitting is the number of ticks between two values whose labels, one beside the
  // other, leave some of the width.
  const fitting = (low, high, width) => {
    for (let n = 10; n > 2; n--) {
      const ticks = d3.ticks(low, high, n);
      if (ticks.length * (22 + charWidth * Math.max(...ticks.map((t) => number(t).length))) < width) {
        return n;
      }
    }
    return 2;
  };

  // scale makes the options of an axis; values is all that it must show.
  const scale = (axis, values, width) => {
    const by = axis.percent ? 100 : 1;
    const [low, high] = d3.extent(axis.zero ? [0, ...values] : values, (v) => by * v);
    const labels = { label: axis.label, labelArrow: "none", percent: axis.percent, tickFormat: number };
    if (!axis.log || !(d3.min(values) > 0)) {
      return { ...labels, ticks: fitting(low, high, width), nice: true };
    }
    const few = Math.max(3, Math.floor(width / 56));
    const [least, most] = d3.extent(values);
    const all = d3.range(Math.floor(Math.log10(least)), Math.ceil(Math.log10(most)) + 1)
      .flatMap((e) => [1, 2, 5].map((k) => +(k * 10 ** e).toPrecision(1)));
    let ticks = all.filter((t) => t >= least * 0.999 && t <= most * 1.001);
    if (ticks.length > few) {
      ticks = ticks.filter((t) => String(t).replace(/[0.]/g, "").startsWith("1"));
    }
    return { ...labels, type: "log", ticks: ticks.length ? ticks : few };
  };

  // grid makes the options of the grid lines at the ticks of a scale.
  const grid = (s) => ({ ticks: s.ticks, stroke: "var(--line)", strokeOpacity: 1 });

  // side is where a label lies beside its place, as a part of the width.
  const side = (part) => (part > 0.8 ? "end" : part < 0.2 ? "start" : "middle");

  // rules draws the lines across a chart, each with its label; those of upright
  // lines lie above each other, over a chart that shows values from low to high.
  const ruleHeight = 16;
  const upright = (c) => (c.rules ?? []).filter((r) => r.axis === "x" && r.label);
  const rules = (c, [low, high] = []) => (c.rules ?? []).flatMap((r) => {
    const { at } = r;
    const along = c.x.log ? Math.log : Number;
    const part = (along(at) - along(low)) / (along(high) - along(low));
    const line = { stroke: "var(--soft)", strokeDasharray: r.label ? "2 3" : null };
    const label = { text: [r.label], fill: "var(--soft)", stroke: "var(--paper)", strokeWidth: 4 };
    return r.axis === "x"
      ? [Plot.ruleX([at], line), Plot.text([at], { ...label, x: [at], frameAnchor: "top", textAnchor: side(part), lineAnchor: "top", dy: -ruleHeight * (1 + upright(c).indexOf(r)) })]
      : [Plot.ruleY([at], line), Plot.text([at], { ...label, y: [at], frameAnchor: "right", textAnchor: "end", lineAnchor: "bottom", dy: -3 })];
  });

  const tip = (rows, options) => Plot.tip(rows, Plot.pointer({ maxRadius: 60, fontSize: 12, ...options }));

  const lines = (c, width) => {
    const curves = c.lines.map((l) => l.x.map((x, i) => ({
      series: l.series, x, y: l.y[i] ?? NaN, low: l.low?.[i] ?? NaN, high: l.high?.[i] ?? NaN,
    })).filter((p) => !c.x.log || p.x > 0));
    const points = curves.flat();
    const ys = points.map((p) => p.y).concat(points.map((p) => p.high)).filter(Number.isFinite);
    const x = { ...scale(c.x, points.map((p) => p.x), width), labelAnchor: "center" };
    const y = { ...scale(c.y, ys, 420), labelAnchor: "top", zero: c.y.zero && !c.y.log };
    const above = ruleHeight * Math.max(0, upright(c).length - 1);
    const xs = d3.extent(points.map((p) => p.x).concat(upright(c).map((r) => r.at)));
    const marks = [Plot.gridX(grid(x)), Plot.gridY(grid(y)), ...rules(c, xs)];
    c.lines.forEach((l, i) => {
      const look = { x: "x", y: "y", stroke: colour(l.series) };
      if (l.low) {
        marks.push(Plot.areaY(curves[i], { x: "x", y1: "low", y2: "high", fill: colour(l.series), fillOpacity: 0.15 }));
      }
      marks.push(Plot.lineY(curves[i], { ...look, strokeWidth: 2, strokeDasharray: dash(l.series) }));
      if (l.dots) {
        marks.push(Plot.dot(curves[i], { ...look, r: 3, fill: "var(--paper)" }));
      }
    });
    marks.push(tip(points, { x: "x", y: "y", title: (p) => `${name(p)}\n${c.x.label}: ${shown(p.x, c.x)}\n${c.y.label}: ${shown(p.y, c.y)}` }));
    const longest = Math.max(3, ...ys.map((v) => shown(v, c.y).length));
    return Plot.plot({
      width, height: 270 + above, marginLeft: 14 + longest * charWidth, marginBottom: 42, marginRight: 16, marginTop: 26 + above, style, marks,
      x, y,
    });
  };

  // rowsOf lays rows below each other with their names on the left; a name that
  // would take more than its share of the width is cut.
  const rowsOf = (list, width) => {
    const most = Math.floor(Math.min(0.42 * width, 260) / charWidth);
    const cut = (s) => (s.length > most ? s.slice(0, most - 1) + "\u2026" : s);
    const names = list.map(name);
    return {
      marginLeft: 12 + charWidth * Math.max(...names.map((n) => cut(n).length)),
      height: 54 + 26 * list.length,
      y: { type: "band", domain: d3.range(list.length), label: null, tickSize: 0, tickFormat: (i) => cut(names[i]) },
    };
  };

  const intervals = (c, width) => {
    const rows = c.intervals.map((r, i) => ({ ...r, key: i }));
    const known = rows.filter((r) => r.value !== null);
    const layout = rowsOf(rows, width);
    const beside = width >= 460 ? 8 + 6.4 * Math.max(...rows.map((r) => r.text.length)) : 0;
    const values = known.flatMap((r) => [r.value, r.low ?? r.value, r.high ?? r.value]).concat((c.rules ?? []).map((r) => r.at));
    const x = { ...scale(c.x, values, width - beside - layout.marginLeft), labelAnchor: "center", insetLeft: 8, insetRight: 8, zero: c.x.zero };
    return Plot.plot({
      ...layout, x, width, marginRight: 16 + beside, marginTop: 10, marginBottom: 42, style,
      marks: [
        Plot.gridX(grid(x)), ...rules(c, d3.extent(values)),
        Plot.ruleY(known.filter((r) => r.low !== null && r.high !== null), {
          y: "key", x1: "low", x2: "high", stroke: (r) => colour(r.series), strokeWidth: 2.5, strokeLinecap: "round",
        }),
        Plot.dot(known, {
          x: "value", y: "key", r: 5, strokeWidth: 2, stroke: (r) => colour(r.series), fill: (r) => (r.unsure ? "var(--paper)" : colour(r.series)),
        }),
        beside ? Plot.text(rows, { y: "key", text: "text", frameAnchor: "right", textAnchor: "start", dx: 14, fill: "currentColor" }) : null,
        tip(known, { x: "value", y: "key", title: (r) => `${name(r)}\n${r.text}` }),
      ],
    });
  };

  const bars = (c, width) => {
    const layout = rowsOf(c.bars, width);
    const pieces = c.bars.flatMap((b, key) => {
      let from = 0;
      return b.parts.map((value, part) => ({ key, part, value, row: b, from, to: (from += value) }));
    }).filter((p) => p.value > 0);
    const above = ruleHeight * upright(c).length;
    return Plot.plot({
      ...layout, height: layout.height + above, width, marginRight: 20, marginTop: 8 + above, marginBottom: 42, style,
      x: { ...scale(c.x, pieces.map((p) => p.to), width - layout.marginLeft), nice: false, labelAnchor: "center" },
      marks: [
        Plot.barX(pieces, { y: "key", x1: "from", x2: "to", fill: (p) => `var(--p${p.part})`, stroke: "var(--paper)", strokeWidth: 0.75, insetTop: 1, insetBottom: 1 }),
        ...rules(c, [0, 1]),
        tip(pieces, { x: (p) => (p.from + p.to) / 2, y: "key", title: (p) => `${name(p.row)}\n${c.parts[p.part]}: ${shown(p.value, c.x)}${c.x.percent ? " %" : ""}` }),
      ],
    });
  };

  // some picks about four of so many rows, at their middle.
  const some = (rows) => d3.ticks(0, rows - 1, Math.min(4, rows)).filter(Number.isInteger).map((row) => row + 0.5);

  const heat = (c, width) => {
    const all = document.createElement("div");
    const most = d3.max(c.grids, (g) => d3.max(g.values)) || 1;
    const ramp = { type: "sqrt", scheme: "viridis", domain: [0, most] };
    all.append(Plot.legend({ color: { ...ramp, tickFormat: number }, label: c.z.label, width: Math.min(300, width), height: 44, marginLeft: 8, marginRight: 16, ticks: 4, style }));
    const grids = document.createElement("div");
    grids.className = "grids";
    all.append(grids);
    const columns = Math.max(1, Math.min(c.grids.length, Math.floor((width + 32) / 352)));
    grids.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    const each = (width - 32 * (columns - 1)) / columns;
    const longest = d3.max(c.grids, (g) => g.span);
    for (const g of c.grids) {
      const cell = document.createElement("div");
      const title = document.createElement("h4");
      title.textContent = series[g.series].name;
      cell.append(title, Plot.plot({
        width: each, height: Math.min(266, 72 + Math.max(40, 12 * g.rows)), marginLeft: 40, marginTop: 24, marginBottom: 38, marginRight: 16, style, color: ramp,
        x: { ...scale(c.x, [0, longest], each), nice: false, domain: [0, longest], labelAnchor: "center" },
        y: { label: c.y.label, labelArrow: "none", labelAnchor: "top", domain: [g.rows, 0], ticks: some(g.rows), tickFormat: (t) => number(g.each * (t - 0.5)) },
        marks: [Plot.raster(g.values, { width: g.values.length / g.rows, height: g.rows, x1: 0, x2: g.span, y1: 0, y2: g.rows, imageRendering: "pixelated", interpolate: "none" })],
      }));
      grids.append(cell);
    }
    return all;
  };

  const draw = { lines, intervals, bars, heat };
  const places = [...document.querySelectorAll("[data-chart]")];

  const show = (place, width) => {
    const c = charts[place.dataset.chart];
    const drawn = draw[c.kind](c, width);
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", c.alt);
    place.replaceChildren(drawn);
    place.width = width;
  };
  const showAll = (widthOf) => places.forEach((p) => show(p, widthOf(p)));
  const widthNow = (p) => Math.floor(p.getBoundingClientRect().width);

  // A chart is drawn again when its place has become wider or narrower, and for
  // paper, whose width no event tells.
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const width = widthNow(target);
      if (width > 0 && width !== target.width) {
        show(target, width);
      }
    }
  });
  places.forEach((p) => observer.observe(p));
  addEventListener("beforeprint", () => showAll((p) => (p.closest(".wide") ? 680 : 330)));
  addEventListener("afterprint", () => showAll(widthNow));

  // Each column of numbers gets a button that sorts by it.
  for (const table of document.querySelectorAll("table")) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows].at(-1).cells;
    const rows = [...body.rows];
    [...heads].forEach((head, column) => {
      if (rows.length < 2 || column === 0 || head.classList.contains("text")) {
        return;
      }
      const button = document.createElement("button");
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const h of heads) {
          h.removeAttribute("aria-sort");
        }
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => parseFloat(row.cells[column].dataset.sort);
        body.append(...rows.toSorted((a, b) => {
          const [x, y] = [key(a), key(b)];
          return Number.isNaN(x) || Number.isNaN(y) ? Number.isNaN(x) - Number.isNaN(y) : down ? y - x : x - y;
        }));
      });
    });
  }
})();
