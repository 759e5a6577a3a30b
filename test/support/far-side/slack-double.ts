import { startHttpSink } from "./http-sink.ts";

/** Something that a reader sees from then on, line by line. */
export interface SlackText {
  readonly atMs: number;
  readonly lines: readonly string[];
}

/** A message of the channel, with all that it was. */
export interface SlackMessage {
  /** From the first to the last edit; a webhook's has one. */
  readonly states: SlackText[];
  /** Its thread, in order. */
  readonly replies: SlackText[];
}

/** The part of Slack that a receiver uses: `chat.postMessage` and `chat.update` below /api, and an incoming webhook. */
export interface SlackDouble {
  readonly apiUrl: string;
  readonly webhookUrl: string;
  /** In the order of their first states. */
  readonly ofBot: readonly SlackMessage[];
  readonly ofWebhook: readonly SlackMessage[];
  close(): Promise<void>;
}

interface SlackCall {
  readonly channel: string;
  readonly text: string;
  readonly ts?: string;
  readonly thread_ts?: string;
  readonly blocks?: readonly Block[];
}

type Text = { readonly text: string };
type Block = {
  readonly type: string;
  readonly text?: Text;
  readonly fields?: readonly Text[];
  readonly elements?: readonly Text[];
};

const channel = "C042";

/**
 * Keeps messages and threads of the bot with this token in one channel, as Slack does: by `ts`, unknown ones refused.
 */
export async function startSlackDouble(token: string, nowMs: () => number): Promise<SlackDouble> {
  const ofBot: SlackMessage[] = [];
  const ofWebhook: SlackMessage[] = [];
  const seen = (lines: readonly string[]): SlackText => ({ atMs: nowMs(), lines });
  const known = (ts: string | undefined): SlackMessage | undefined => ofBot[Number(ts?.split(".")[1]) - 1];

  function answer(method: string, call: SlackCall): object {
    const { ts, thread_ts: thread } = call;
    const message = known(method === "chat.update" ? ts : thread);
    if (method === "chat.update") {
      if (message === undefined) return { ok: false, error: "message_not_found" };
      message.states.push(seen(linesOf(call)));
      return { ok: true, channel, ts };
    }
    if (thread !== undefined) {
      if (message === undefined) return { ok: false, error: "thread_not_found" };
      message.replies.push(seen(readable(call.text).split("\n")));
      return { ok: true, channel, ts: `${thread}.${message.replies.length}` };
    }
    ofBot.push({ states: [seen(linesOf(call))], replies: [] });
    return { ok: true, channel, ts: `17000.${ofBot.length}` };
  }

  const sink = await startHttpSink((response, { path, body, headers }) => {
    const call = JSON.parse(body) as SlackCall;
    if (path === "/hook") {
      ofWebhook.push({ states: [seen(linesOf(call))], replies: [] });
      response.end("ok");
    } else if (headers.authorization === `Bearer ${token}`)
      response.end(JSON.stringify(answer(path.replace("/api/", ""), call)));
    else response.end(JSON.stringify({ ok: false, error: "invalid_auth" }));
  });
  return { apiUrl: `${sink.url}/api`, webhookUrl: `${sink.url}/hook`, ofBot, ofWebhook, close: () => sink.close() };
}

/** All that a reader sees of a message, line by line. */
function linesOf({ blocks = [] }: SlackCall): string[] {
  const texts = blocks.flatMap(({ text, fields = [], elements = [] }) => [
    ...(text === undefined ? [] : text.text.split("\n")),
    ...fields.map((field) => field.text.replace("\n", " ")),
    ...elements.map((element) => element.text),
  ]);
  return texts.map(readable);
}

/** The text without marks; times by the sender's words for them. */
function readable(text: string): string {
  const dated = text.replaceAll(/<!date\^[^|]*\|([^>]*)>/g, "$1");
  return dated.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
