// What a reader would stumble over, found in a page that is open. Each function
// runs in the browser and returns what is wrong, one line each.

// undrawn finds charts without a mark on them, and text without a place.
export function undrawn() {
  const wrong = [];
  for (const place of document.querySelectorAll("[data-chart]")) {
    const title = place.closest("figure").querySelector("h3").textContent;
    const marks = place.querySelectorAll('[aria-label="line"] path, [aria-label="dot"] circle, [aria-label="bar"] rect, [aria-label="raster"] image');
    if (![...marks].some((m) => m.getBoundingClientRect().width > 0)) {
      wrong.push(`${title}: nothing is drawn`);
    }
    if (!place.querySelector('[aria-label$="axis tick label"] text')) {
      wrong.push(`${title}: an axis has no numbers`);
    }
    if (!place.firstElementChild?.getAttribute("aria-label")) {
      wrong.push(`${title}: nothing tells what it shows`);
    }
  }
  for (const e of document.querySelectorAll("h1, .summary, h2, h3, caption, th[scope=row], td, .legend li, pre")) {
    const box = e.getBoundingClientRect();
    if (!e.textContent.trim() || box.width < 1 || box.height < 8) {
      wrong.push(`${e.tagName} ${e.className} "${e.textContent}" is not to be seen`);
    }
  }
  return wrong;
}

// crowded finds labels of charts that lie on each other or leave their chart, and
// a page that is wider than its window.
export function crowded() {
  const wrong = [];
  const meet = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5;
  for (const place of document.querySelectorAll("[data-chart]")) {
    const title = place.closest("figure").querySelector("h3").textContent;
    const frame = place.closest("figure").getBoundingClientRect();
    for (const svg of place.querySelectorAll("svg")) {
      const labels = [...svg.querySelectorAll("text")].filter((t) => t.textContent).map((t) => [t.textContent, t.getBoundingClientRect()]);
      labels.forEach(([text, box], i) => {
        if (box.left < frame.left - 1 || box.right > frame.right + 1) {
          wrong.push(`${title}: "${text}" leaves the chart, ${box.left} to ${box.right} in ${frame.left} to ${frame.right}`);
        }
        for (const [other, place] of labels.slice(i + 1)) {
          if (meet(box, place)) {
            wrong.push(`${title}: "${text}" lies on "${other}"`);
          }
        }
      });
    }
  }
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) {
    wrong.push(`the page is ${scrollWidth} px wide, the window ${clientWidth}`);
  }
  return wrong;
}

// faint finds text that stands out too little from what is behind it (WCAG AA).
export function faint() {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (colour !== "rgba(0, 0, 0, 0)") {
        return colour;
      }
    }
    return "white";
  };
  const wrong = new Set();
  for (const e of document.querySelectorAll("h1, h2, h3, p, li, dt, dd, th, td, td i, small, caption, figcaption, pre, a, .mark, svg text")) {
    const style = getComputedStyle(e);
    const [a, b] = [light(e instanceof SVGElement ? style.fill : style.color), light(behind(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (e.textContent.trim() && ratio < 4.5) {
      wrong.add(`${e.tagName}.${e.getAttribute("class") ?? ""} "${e.textContent.trim().slice(0, 30)}" has a contrast of ${ratio.toFixed(2)}`);
    }
  }
  return [...wrong];
}
