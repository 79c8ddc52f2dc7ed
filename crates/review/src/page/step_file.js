// The first step: a file is dropped or chosen.

import {upload} from "./api.js";
import {el, replace} from "./dom.js";
import {earlierUploads} from "./history.js";
import {t} from "./words.js";

/** The name of the sample, which is only tried, and not sent. */
export const SAMPLE = "Sheetport sample.csv";
const SVG = "http://www.w3.org/2000/svg";

function picture() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 46 54");
  svg.setAttribute("class", "sheet");
  svg.setAttribute("aria-hidden", "true");
  for (const [d, width] of [["M5 3h25l12 12v36H5z", 2.5], ["M30 3v12h12", 2.5], ["M12 24h23M12 32h23M12 40h23M20 24v16", 2]]) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    path.setAttribute("fill", "none");
    path.setAttribute("stroke", "currentColor");
    path.setAttribute("stroke-width", width);
    path.setAttribute("stroke-linejoin", "round");
    svg.append(path);
  }
  return svg;
}

export function fileStep(app, main) {
  const input = el("input", {type: "file", hidden: true, id: "file", "aria-label": t("file.choose"), onchange: () => take(input.files)});
  const about = el("div");
  const zone = el("section.drop", {"aria-label": t("file.title")}, about, input);

  function idle(message) {
    replace(about, picture(), el("h1", t("file.title")), el("p.soft", t("file.text")),
      el("div.buttons", el("button.primary", {onclick: () => input.click()}, t("file.choose")), el("button", {"data-sample": "", onclick: sample}, t("file.sample"))),
      message ? el("p.bad", {role: "alert"}, message) : null,
      el("ul.facts", el("li", t("file.kinds")), el("li", t("file.nothing_sent")), el("li", t("file.stays"))));
  }

  /** Opens a small price list with some problems. */
  async function sample() {
    const answer = await fetch("sample.csv").catch(() => null);
    if (!answer?.ok) return app.lost();
    take([new File([await answer.blob()], SAMPLE)]);
  }

  async function take(files) {
    const [file] = files;
    if (!file) return;
    const bar = el("progress", {max: 1, value: 0, "aria-label": t("file.reading", {name: file.name})});
    replace(about, picture(), el("h1", t("file.reading", {name: file.name})), bar);
    try {
      const {review} = await upload(file, (share) => { bar.value = share; });
      await app.open(review);
    } catch (error) {
      if (error.status === 401 || error.status === 0) app.fail(error);
      idle([error.message, error.hint].filter(Boolean).join(" – "));
    }
  }

  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files);
  });
  idle();
  replace(main, el("div.page.start", zone, earlierUploads(app)));
  return {take};
}
