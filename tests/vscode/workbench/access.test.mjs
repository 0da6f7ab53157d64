// For everyone: what screen readers are given, the keyboard alone, contrast in four themes, a narrow side bar, words from right to left.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { becomes, scenes, textOf, toolResults, until, Workbench } from "./harness.mjs";

const LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
const RICH = `# A heading\n\nSome **words** with \`code\`, \`src/app.py:3\`, src/app.py:3 and a [link](https://example.org).\n\n> quoted\n\n| name | value |\n|---|---|\n| ${LONG} | 1 |\n\n\`\`\`python\nvalue = "${LONG}"  # a line that is longer than the view is wide\n\`\`\`\n\n1. one\n2. two\n\n${LONG}${LONG}`;
const HEBREW = "שלום, מה זה עושה?";
const THEMES = [
  ["Dark Modern", ".vs-dark", 4],
  ["Light Modern", ".vs", 4],
  ["Dark High Contrast", ".hc-black", 7],
  ["Light High Contrast", ".hc-light", 7],
];
const INTERACTIVE = new Set(["button", "textbox", "searchbox", "combobox", "checkbox", "radio", "link", "listbox", "option", "spinbutton", "DisclosureTriangle", "PopUpButton", "MenuListPopup", "MenuListOption"]);

const bench = new Workbench();

before(async () => {
  bench.write({ "app.py": "speed = 1\n", "limits.py": "speed = 2\n", "notes.md": "# Notes\n" });
  await bench.start();
});
after(() => bench.stop());

const scene = scenes(bench, "access");
const lastCall = async () => (await bench.api.calls()).at(-1);
const answer = (text) => bench.chat.locator(".row.text").filter({ hasText: text }).last().waitFor();
const box = () => bench.chat.locator("textarea.prompt");
const typesInBox = () => bench.typesInBox();
const QUESTIONS = [
  { header: "Database", question: "Which database?", multiSelect: false, options: [{ label: "SQLite", description: "one file" }, { label: "Postgres", description: "a server" }] },
  { header: "Extras", question: "Which extras?", multiSelect: true, options: [{ label: "Tests", description: "" }, { label: "Docs", description: "" }] },
];

/** What the browser tells screen readers about the chat page, whether its frame has a process of its own or not. */
async function spoken() {
  const frame = await (await bench.chat.locator("body").elementHandle()).ownerFrame();
  const own = await bench.context.newCDPSession(frame).catch(() => null);
  const session = own ?? (await bench.context.newCDPSession(bench.page));
  const frameId = own ? undefined : framed((await session.send("DOM.getDocument", { depth: -1, pierce: true })).root);
  const { nodes } = await session.send("Accessibility.getFullAXTree", { frameId });
  const heard = nodes.filter((node) => !node.ignored).map((node) => ({ role: node.role?.value ?? "", name: (node.name?.value ?? "").trim(), focusable: (node.properties ?? []).some((each) => each.name === "focusable" && each.value.value), id: node.backendDOMNodeId }));
  for (const each of heard) if (each.focusable && !each.name && each.id) each.where = (await session.send("DOM.describeNode", { backendNodeId: each.id })).node.attributes?.join(" ");
  await session.detach();
  return heard;
}

/** The id of the chat's frame, somewhere below this node. */
function framed(node) {
  const attributes = node.attributes ?? [];
  if (attributes[attributes.indexOf("id") + 1] === "active-frame") return node.frameId;
  for (const child of [...(node.children ?? []), ...(node.shadowRoots ?? []), ...(node.contentDocument ? [node.contentDocument] : [])]) {
    const found = framed(child);
    if (found) return found;
  }
  return undefined;
}

/** Everything one can act on or stop at has a name and a role, once the page has drawn all of it. */
async function allNamed(where, wanted) {
  await until(async () => {
    const nodes = await spoken();
    const stops = nodes.filter((node) => (INTERACTIVE.has(node.role) || node.focusable) && !["RootWebArea", "MenuListPopup"].includes(node.role));
    const nameless = stops.filter((node) => !node.name || ["generic", "none", "Section", "Pre", ""].includes(node.role));
    assert.deepEqual(nameless, [], `${where}: without a name or a role`);
    for (const [role, name] of wanted) assert.ok(nodes.some((node) => node.role === role && name.test(node.name)), `${where}: no ${role} ${name} among ${JSON.stringify(stops.map((node) => [node.role, node.name]))}`);
    return true;
  }, `${where} to be named`);
}

scene("every control of the chat, of asks, forms and lists has a name and a role for screen readers", async () => {
  await bench.chat.locator("select.model").waitFor();
  await allNamed("an empty chat", [["combobox", /^Message to Assent$/], ["button", /^Send$/], ["combobox", /^Permission mode/], ["combobox", /^Model/], ["button", /Explain how this project/]]);
  await bench.api.script({ blocks: [{ thinking: "Let me think." }, RICH, { tool: "Bash", input: { command: "touch named.txt && ls", description: "Name it" } }] }, { blocks: ["Named."] });
  await bench.say("say a lot");
  await bench.chat.locator(".card.ask").waitFor();
  await allNamed("an ask", [["group", /^Permission needed: /], ["button", /^Allow once$/], ["button", /^Allow for this session: Bash/], ["button", /^Allow always in this project: Bash/], ["textbox", /^Reason for the model$/], ["button", /^Deny$/], ["button", /^Stop$/], ["button", /^Copy code$/], ["button", /^Apply to the open file/], ["button", /^Edit and resend$/], ["feed", /^Conversation$/]]);
  await bench.chat.locator('.card.ask [data-answer="once"]').click();
  await answer("Named.");
  await bench.chat.locator(".row.end").waitFor();
  await allNamed("an answer", [["article", /^You$/], ["article", /^Assent$/], ["article", /^Tool$/], ["button", /^Context: .* tokens/], ["button", /^Cost of this conversation: \$/], ["button", /^Try the last message again$/]]);

  await bench.api.script({ blocks: [{ tool: "AskUserQuestion", input: { questions: QUESTIONS } }] }, { blocks: ["Chosen."] });
  await bench.say("ask me");
  await bench.chat.locator(".card.elicit").waitFor();
  await allNamed("a form", [["form", /^Question: /], ["radio", /^Postgres/], ["checkbox", /^Docs/], ["radio", /^Another answer$/], ["textbox", /^Other answer to Database$/], ["button", /^Answer$/], ["button", /^Decline$/]]);
  await bench.chat.locator('.card.elicit [data-answer="decline"]').click();
  await answer("Chosen.");

  await bench.api.script({ blocks: ["Busy.", { hold: "busy" }] }, { blocks: ["Later."] });
  await bench.say("take your time");
  await answer("Busy.");
  await bench.say("and then this");
  await bench.chat.locator(".queued").waitFor();
  await allNamed("the queue", [["list", /^Messages that wait$/], ["button", /^Take back and edit: and then this$/], ["button", /^Withdraw: and then this$/]]);
  await bench.api.release("busy");
  await answer("Later.");

  await box().pressSequentially("@note");
  await bench.chat.locator(".completions li").filter({ hasText: "notes.md" }).waitFor();
  await allNamed("completions", [["listbox", /^Completions$/], ["option", /notes\.md/]]);
  await box().press("Escape");
  await box().fill("");
  await bench.chat.locator("button.meter").click();
  await bench.chat.locator(".facts").waitFor();
  await allNamed("the context", [["dialog", /^Details$/], ["button", /^Close$/]]);
  await bench.page.keyboard.press("Escape");
  await bench.command("Assent: Show Chat History");
  await bench.chat.locator(".history li[data-session]").first().waitFor();
  await allNamed("the history", [["searchbox", /^Search conversations$/], ["list", /^Conversations$/], ["button", /^take your time/], ["button", /^Rename take your time$/], ["button", /^Delete take your time$/], ["button", /^Close history$/]]);
  await bench.chat.locator('button[aria-label="Close history"]').click();
});

scene("screen readers hear asks at once and an answer once, when it is whole", async () => {
  await bench.newChat();
  await bench.chat.locator("body").evaluate((body) => {
    const live = body.querySelector('.visually-hidden[aria-live="polite"]');
    window.heard = [];
    new MutationObserver(() => window.heard.push(live.textContent)).observe(live, { childList: true, characterData: true, subtree: true });
  });
  const words = Array.from({ length: 80 }, (_, at) => `word${at}`).join(" ");
  await bench.api.script({ blocks: [{ text: `It **is** ${words}.\n\n\`\`\`python\nx = 1\n\`\`\``, piece: 4 }, { tool: "Bash", input: { command: "touch heard.txt", description: "Hear" } }] }, { blocks: [{ text: `Done, ${words}.\n\n\`\`\`python\nx = 1\n\`\`\``, piece: 4 }] });
  await bench.say("speak");
  await bench.chat.locator('.card.ask [data-answer="once"]').click();
  await bench.chat.locator(".row.end").waitFor();
  const heard = () => bench.chat.locator("body").evaluate(() => window.heard);
  await until(async () => (await heard()).length >= 2, "an ask and an answer to be heard");
  const [ask, whole, ...others] = await heard();
  assert.deepEqual(others, []);
  assert.match(ask, /^Permission needed: Run touch heard\.txt/);
  assert.equal(whole, `Assent: Done, ${words}. (code)`);
  // What is drawn as it streams is in no live region of its own.
  assert.equal(await bench.chat.locator(".transcript").evaluate((element) => element.closest("[aria-live], [role=log], [role=status], [role=alert]") !== null), false);
});

scene("from opening the chat to a hunk that is in, without the mouse", async () => {
  await bench.newChat();
  await bench.openFile("app.py");
  for (const frame of bench.page.frames()) await frame.evaluate(() => window.addEventListener("mousedown", () => (window.moused = true), true)).catch(() => {});
  const keys = bench.page.keyboard;
  await bench.key("Control+Alt+I");
  await until(typesInBox, "the focus in the box");
  await bench.api.script({ blocks: [{ tool: "Read", input: { file_path: "app.py" } }] }, { blocks: [{ tool: "Edit", input: { file_path: "app.py", old_string: "speed = 1", new_string: "speed = 2" } }] }, { blocks: ["Faster."] });
  await keys.type("make it faster");
  await keys.press("Enter");
  await bench.lens("speed = 2").waitFor();
  assert.equal(await typesInBox(), true, "the focus stays where one types");
  await bench.key("Alt+F5");
  await bench.reviewing("app.py");
  await until(async () => /Ln 1,/.test(await bench.page.locator(".statusbar").textContent()), "the cursor on the hunk");
  await bench.key("Control+Alt+Y");
  await answer("Faster.");
  await bench.page.locator(".tab").filter({ hasText: "(review)" }).waitFor({ state: "detached" });
  await until(async () => /speed = 2/.test(await bench.editorText()), "the hunk in the buffer");
  await until(() => bench.focused(), "the keyboard in the file");
  assert.match(textOf(toolResults(await lastCall()).at(-1)), /app\.py/);
  await keys.press("Control+S");
  await bench.saved("app.py", "speed = 2\n");
  await until(async () => (await bench.lens("").count()) === 0, "nothing left of the hunk but its text");
  const moused = await Promise.all(bench.page.frames().map((frame) => frame.evaluate(() => window.moused === true).catch(() => false)));
  assert.deepEqual(moused.filter(Boolean), []);
});

/** Every text on the page with less contrast than asked for, and every stop of the Tab key that shows no focus. */
async function lowContrast(least) {
  return bench.chat.locator("body").evaluate((body, least) => {
    const channels = (color) => {
      const mixed = /color\(srgb ([^)]+)\)/.exec(color)?.[1].split(/[ /]+/).map(Number);
      if (mixed) return [...mixed.slice(0, 3).map((value) => value * 255), ...mixed.slice(3)];
      return (/rgba?\(([^)]+)\)/.exec(color)?.[1] ?? "0,0,0,0").split(/[ ,/]+/).map(Number);
    };
    const over = ([r, g, b, a = 1], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
    const light = (rgb) => rgb.slice(0, 3).map((value) => value / 255).map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)).reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
    const ground = (element) => (element ? over(channels(getComputedStyle(element).backgroundColor), ground(element.parentElement)) : [255, 255, 255]);
    const found = [];
    for (const element of body.querySelectorAll("*")) {
      const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent.trim()).join(" ").trim();
      const area = element.getBoundingClientRect();
      if (!text || element.closest(".visually-hidden, script, style") || area.width === 0 || area.height === 0 || !element.checkVisibility({ opacityProperty: true })) continue;
      if (element.closest(":disabled")) continue;
      const back = ground(element);
      const [a, b] = [light(over(channels(getComputedStyle(element).color), back)), light(back)].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < least) found.push(`${text.slice(0, 30)} ${element.className} ${ratio.toFixed(1)}`);
    }
    return found;
  }, least);
}

async function unseenFocus() {
  await box().focus();
  const unseen = [];
  for (let stops = 0; stops < 60; stops += 1) {
    await bench.page.keyboard.press("Shift+Tab");
    const stop = await bench.chat.locator("body").evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return null;
      const ring = getComputedStyle(element);
      const seen = (ring.outlineStyle !== "none" && Number.parseFloat(ring.outlineWidth) > 0) || element.matches(".prompt");
      return { seen, what: `${element.tagName}.${element.className}` };
    });
    if (!stop) break;
    if (!stop.seen) unseen.push(stop.what);
  }
  return unseen;
}

/** The page draws once per frame; after two, what was changed is on the screen. */
const drawn = () => bench.chat.locator("body").evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

scene("four themes: every word can be read and every stop of the Tab key is seen", async () => {
  await bench.newChat();
  await bench.openFile("limits.py");
  const edit = { tool: "MultiEdit", input: { file_path: "limits.py", edits: [{ old_string: "speed = 2", new_string: "speed = 3\nlimit = 9" }] } };
  await bench.api.script({ blocks: [{ thinking: "Hm." }, RICH, { tool: "Read", input: { file_path: "limits.py" } }, { tool: "Bash", input: { command: "false", description: "Fail" } }] }, { blocks: [edit] }, { blocks: ["Settled."] });
  await bench.say("show everything");
  await bench.lens("speed = 3").waitFor();
  await bench.chat.locator(".card.ask").waitFor();
  for (const [name, kind, least] of THEMES) {
    await bench.theme(name, kind);
    await drawn();
    const low = [];
    for (const place of [0, 1e9]) {
      await bench.chat.locator(".transcript").evaluate((element, top) => (element.scrollTop = top), place);
      await drawn();
      low.push(...(await lowContrast(least)));
    }
    assert.deepEqual(low, [], name);
    assert.deepEqual(await unseenFocus(), [], name);
    await bench.chat.locator('.card.ask [data-answer="once"]').focus();
    await bench.page.keyboard.press("Tab");
    await bench.shot(`theme-${name.toLowerCase().replaceAll(" ", "-")}`);
  }
  await bench.theme("Dark Modern", ".vs-dark");
  await bench.command("Assent: Reject All Hunks");
  await answer("Settled.");
});

/** What sticks out of the page to the side, unless something around it scrolls. */
const sticksOut = () =>
  bench.chat.locator("body").evaluate((body) => {
    const scrolls = (element) => element && (["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    return [...body.querySelectorAll("*")].filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 1 && !element.closest(".visually-hidden") && !scrolls(element.parentElement)).map((element) => `${element.tagName}.${element.className} ${element.textContent.slice(0, 30)}`);
  });

scene("a side bar of 200 pixels cuts nothing off, and words from right to left run that way", async () => {
  await bench.newChat();
  await bench.widen(200);
  await becomes(sticksOut, [], "nothing to stick out");
  await until(() => box().evaluate((element) => element.scrollHeight <= element.clientHeight), "the whole hint in the box");
  await bench.shot("narrow-empty");
  await bench.api.script({ blocks: [RICH, { tool: "Bash", input: { command: `touch ${LONG}.txt && curl http://127.0.0.1:9/${LONG}`, description: "Long" } }] }, { blocks: [{ tool: "AskUserQuestion", input: { questions: QUESTIONS } }] }, { blocks: [`${HEBREW}\n\n- ${HEBREW}\n\nAnd English.`] });
  await bench.say(`${LONG} ${LONG}`);
  await bench.chat.locator(".card.ask").waitFor();
  await becomes(sticksOut, [], "nothing to stick out");
  await bench.shot("narrow-ask");
  const deny = await bench.chat.locator('.card.ask [data-answer="deny"]').boundingBox();
  assert.ok(deny.width > 30);
  await bench.chat.locator('.card.ask [data-answer="deny"]').click();
  await bench.chat.locator(".card.elicit").waitFor();
  await becomes(sticksOut, [], "nothing to stick out");
  await bench.shot("narrow-question");
  await bench.chat.locator('.card.elicit [data-answer="decline"]').click();
  await bench.chat.locator(".row.end").waitFor();
  await bench.api.script({ blocks: ["כן."] });
  await bench.say(HEBREW);
  await answer("כן.");
  const sides = await bench.chat.locator(".row.text p").filter({ hasText: HEBREW }).first().evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const words = range.getBoundingClientRect();
    const around = element.getBoundingClientRect();
    return { left: words.left - around.left, right: around.right - words.right };
  });
  assert.ok(sides.right < sides.left, JSON.stringify(sides));
  await becomes(sticksOut, [], "nothing to stick out");
  await bench.shot("narrow-rtl");
  await bench.command("Assent: Show Chat History");
  await bench.chat.locator(".history li[data-session]").first().waitFor();
  await becomes(sticksOut, [], "nothing to stick out");
  await bench.shot("narrow-history");
  await bench.chat.locator('button[aria-label="Close history"]').click();
  await bench.widen(440);
});
