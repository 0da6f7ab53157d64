/** Wires the parts together; each owns its surface. */
import type * as vscode from "vscode";
import { Actions, isActionData } from "./actions";
import { ChatView } from "./chatView";
import { registerCommands } from "./commands";
import { ContextKeys } from "./contextKeys";
import { ContextSources } from "./contextSources";
import { EditorQueries } from "./editorQueries";
import { FirstSteps } from "./firstSteps";
import { Ideas } from "./ideas";
import { Review } from "./review";
import { ReviewDiff } from "./reviewDiff";
import { ReviewHints } from "./reviewHints";
import { ReviewMemory } from "./reviewMemory";
import { ReviewText } from "./reviewText";
import { ReviewTree } from "./reviewTree";
import { Secrets } from "./secrets";
import { ServerProcess } from "./serverProcess";
import { Sessions } from "./sessions";
import { editorSettings } from "./settings";
import { SetupActions } from "./setupActions";
import { SetupTree } from "./setupTree";
import { ShownText } from "./shownText";
import { StatusBar } from "./statusBar";
import { Waiting } from "./waiting";

export function activate(context: vscode.ExtensionContext): void {
  const secrets = new Secrets(context.secrets);
  const server = new ServerProcess(context, secrets, {
    // The server's actions are its commands; the ones that start a turn are shown in our chat.
    executeCommand: (command, args, next) => (command === "assent.ask" && isActionData(args[0]) ? actions.run(args[0]) : next(command, args)),
    // The status bar item says what is happening; a second line beside it would only repeat it.
    handleWorkDoneProgress: () => undefined,
    workspace: {
      configuration: (params, token, next) => (params.items.every((item) => item.section === "assent") ? params.items.map(() => editorSettings()) : next(params, token)),
      didChangeConfiguration: () => server.tellSettings(),
    },
  });
  const queries = new EditorQueries();
  server.handle((client) => queries.register(client));
  const sessions = new Sessions(server);
  const review = new Review(sessions);
  const text = new ReviewText(review);
  review.useDrafts(text);
  const diff = new ReviewDiff(review, text);
  const hints = new ReviewHints(review);
  const tree = new ReviewTree(review);
  const setup = new SetupTree(server, sessions);
  const texts = new ShownText();
  const contexts = new ContextSources();
  const ideas = new Ideas();
  const chat = new ChatView(context, server, sessions, review, diff, contexts, ideas);
  const waiting = new Waiting(sessions, chat, review, diff);
  const actions = new Actions(server, sessions, chat);
  const steps = new FirstSteps(context.globalState, server, sessions, review);
  const statusBar = new StatusBar(server, sessions, review, chat);
  context.subscriptions.push(
    server,
    sessions,
    review,
    text,
    diff,
    hints,
    setup,
    tree,
    texts,
    contexts,
    ideas,
    chat,
    waiting,
    statusBar,
    steps,
    new ContextKeys(sessions, chat, review, waiting),
    new ReviewMemory(context.workspaceState, sessions, review, server),
    registerCommands({
      context,
      server,
      sessions,
      chat,
      review,
      text,
      diff,
      waiting,
      actions,
      secrets,
      setup,
      setupActions: new SetupActions(sessions, chat, setup, texts),
      steps,
    }),
  );
  void server.start();
}
