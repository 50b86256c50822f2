// Serves ReplayWeb.page and a package on loopback, opens them in Chromium and prints what a page
// says there: see scripts/replay-wacz.

import chromium from "@sparticuz/chromium";
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import puppeteer from "puppeteer-core";

const [dir, wacz, url] = process.argv.slice(2);
const WAIT_MS = Number(process.env.REPLAY_WAIT_MS ?? 60_000);

const types = { html: "text/html", js: "text/javascript", wacz: "application/octet-stream" };
const shell = `<!doctype html><title>replay</title><script src="/ui.js"></script>
<replay-web-page style="height: 900px" source="/crawl.wacz" url="${url}" replayBase="/replay/">
</replay-web-page>`;

const server = createServer((request, response) => {
  const path = request.url.split("?")[0];
  if (path === "/") {
    response.writeHead(200, { "Content-Type": types.html });
    return response.end(shell);
  }
  const file = { "/ui.js": join(dir, "package/ui.js"), "/replay/sw.js": join(dir, "package/sw.js"),
    "/sw.js": join(dir, "package/sw.js"), "/crawl.wacz": wacz }[path];
  if (!file) {
    response.writeHead(404);
    return response.end();
  }
  const size = statSync(file).size;
  const headers = { "Content-Type": types[file.split(".").pop()], "Accept-Ranges": "bytes" };
  const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "");
  if (!range) {
    response.writeHead(200, { ...headers, "Content-Length": size });
    return request.method === "HEAD" ? response.end() : createReadStream(file).pipe(response);
  }
  const start = range[1] === "" ? size - Number(range[2]) : Number(range[1]);
  const end = range[1] === "" || range[2] === "" ? size - 1 : Number(range[2]);
  headers["Content-Range"] = `bytes ${start}-${end}/${size}`;
  response.writeHead(206, { ...headers, "Content-Length": end - start + 1 });
  createReadStream(file, { start, end }).pipe(response);
});

await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const browser = await puppeteer.launch({
  args: [...chromium.args, "--no-sandbox", "--lang=en-US"],
  // ReplayWeb.page takes no locale of the form that LANG=C makes.
  env: { ...process.env, LANG: "en_US.UTF-8", LC_ALL: "en_US.UTF-8" },
  executablePath: await chromium.executablePath(),
  headless: "shell",
});
try {
  const page = await browser.newPage();
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("requestfailed", (request) => said.push(`failed: ${request.url()}`));
  page.on("response", (response) => said.push(`${response.status()} ${response.url()}`));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const deadline = Date.now() + WAIT_MS;
  let text = "";
  while (text === "" && Date.now() < deadline) {
    for (const frame of page.frames()) {
      if (frame.url().includes(`/${url}`)) {
        text = await frame.evaluate(() => document.body?.innerText ?? "").catch(() => "");
      }
    }
    await new Promise((go) => setTimeout(go, 100));
  }
  if (text === "") {
    console.error("replay-wacz: frames:", page.frames().map((frame) => frame.url()), said);
  }
  console.log(text);
  process.exitCode = text === "" ? 1 : 0;
} finally {
  await browser.close();
  server.close();
}
