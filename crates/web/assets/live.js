// Moves what is on the page; everything works without it.
"use strict";
// On a phone the present page's name may be out of sight in the row of names.
const tab = document.querySelector("nav [aria-current]");
if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - (tab.parentElement.clientWidth - tab.offsetWidth) / 2;
const state = document.querySelector("[data-live=state]");
const say = (text, kind) => {
  if (!state) return;
  state.textContent = text;
  state.dataset.kind = kind;
};
const ANEW_MS = 5000;
let waited = 0;
let drawn = Date.now();

// Bars, charts and grids as the server draws them now, in the places of the old ones.
async function draw() {
  const old = document.querySelectorAll("[data-anew]");
  if (!old.length || document.hidden || Date.now() - drawn < ANEW_MS) return;
  drawn = Date.now();
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const anew = page.querySelectorAll("[data-anew]");
  if (anew.length !== old.length) return;
  old.forEach((element, at) => {
    if (!element.contains(document.activeElement)) element.replaceWith(document.adoptNode(anew[at]));
  });
}

// Hosts' countdowns, between two drawings.
const TICK_MS = 250;
setInterval(() => {
  for (const cell of document.querySelectorAll("[data-wait]")) {
    const wait = Math.max(0, cell.dataset.wait - TICK_MS);
    cell.dataset.wait = wait;
    const left = Math.ceil((20 * wait) / Math.max(1, cell.dataset.delay));
    cell.className = cell.className.replace(/\bf\d+$/, `f${Math.min(20, left)}`);
  }
}, TICK_MS);

function show(now) {
  if (now.error) return say(now.error, "off");
  if (now.paused) say("paused", "off");
  else if (now.running) say(`${now.rate} · ${now.in_flight} in flight`, "on");
  else say("at rest", "off");
  for (const element of document.querySelectorAll("[data-live]")) {
    const value = now[element.dataset.live];
    if (typeof value === "string" && element.textContent !== value) element.textContent = value;
  }
  if (now.running) draw().catch(() => {});
}

function listen() {
  const events = new EventSource("/events");
  events.onmessage = (event) => {
    waited = 0;
    show(JSON.parse(event.data));
  };
  events.onerror = () => {
    events.close();
    waited = Math.min(waited + 1, 30);
    say("no connection", "off");
    setTimeout(listen, 1000 * waited);
  };
}
listen();
