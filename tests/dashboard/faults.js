// What of a page people with a screen reader, a keyboard or weak eyes could not use.
() => {
  const faults = [], shown = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const called = (one) => {
    const by = (one.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean).map((id) => document.getElementById(id));
    if (by.includes(null)) faults.push("labelled by nothing: " + one.outerHTML.slice(0, 120));
    const labels = one.labels ? [...one.labels].map((label) => label.textContent) : [];
    return [one.getAttribute("aria-label"), ...by.map((label) => label && label.textContent), ...labels, one.textContent]
      .some((text) => text && text.trim());
  };
  const all = [...document.querySelectorAll("*")].filter(shown);
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) faults.push("twice the id " + id);
  if (!document.documentElement.lang) faults.push("no language");
  if (all.filter((one) => one.tagName === "H1").length !== 1) faults.push("not one main heading");
  for (const one of all.filter((one) => one.matches("a, button, input, summary, canvas, dialog, [role=img], [role=region], progress")))
    if (!called(one)) faults.push("no name: " + one.outerHTML.slice(0, 120));
  for (const one of all.filter((one) => one.matches("svg"))) if (one.getAttribute("aria-hidden") !== "true" && !called(one)) faults.push("no name: svg");
  for (const one of document.querySelectorAll("[aria-describedby]"))
    for (const id of one.getAttribute("aria-describedby").split(/\s+/)) if (!document.getElementById(id)) faults.push("described by nothing: " + id);
  for (const one of document.querySelectorAll("[tabindex]")) if (one.tabIndex > 0) faults.push("an order of its own: " + one.id);
  if (!document.querySelector("[aria-live]")) faults.push("nothing is announced");
  const light = (rgb) => {
    const [r, g, b] = rgb.map((part) => { const c = part / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const colour = (text) => (text.match(/[\d.]+/g) || []).map(Number);
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) { const found = colour(getComputedStyle(at).backgroundColor); if (found.length === 3 || found[3] === 1) return found.slice(0, 3); }
    return [255, 255, 255];
  };
  for (const one of all) {
    if (![...one.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()) || one.closest(":disabled, .unseen, svg, #said, option")) continue;
    const style = getComputedStyle(one), size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
    const [a, b] = [light(colour(style.color)), light(behind(one))].sort((x, y) => y - x), contrast = (a + 0.05) / (b + 0.05);
    if (contrast < (large ? 3 : 4.5)) faults.push(`contrast ${contrast.toFixed(2)}: ${one.textContent.trim().slice(0, 60)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push("wider than the window: " + document.documentElement.scrollWidth);
  return faults;
}
