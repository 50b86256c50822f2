// Moves the numbers that are on the page; everything works without it.
"use strict";
const state = document.querySelector("[data-live=state]");
const say = (text) => { if (state) state.textContent = text; };
let waited = 0;
function listen() {
  const events = new EventSource("/events");
  events.onmessage = (event) => {
    waited = 0;
    const now = JSON.parse(event.data);
    if (now.error) { say(now.error); return; }
    say(now.running ? `${now.rate} · ${now.in_flight} in flight` : "at rest");
    for (const element of document.querySelectorAll("[data-live]")) {
      const value = now[element.dataset.live];
      if (typeof value === "string" && element.textContent !== value) element.textContent = value;
    }
  };
  events.onerror = () => {
    events.close();
    waited = Math.min(waited + 1, 30);
    say("no connection");
    setTimeout(listen, 1000 * waited);
  };
}
listen();
