import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import {
  compiled,
  granted,
  RESERVE,
  say,
  taskOf,
  tempHome,
  testJournal,
  textOf,
  usageOf,
} from '../../test/support/journal.js';
import type { Partial } from '../domain/events.js';
import { callKey } from '../domain/ids.js';
import type { Journal } from './journal.js';
import { openJournal } from './open.js';
import { type TailItem, Transcript } from './rebuild.js';

const END = 'the end';

test('a tail gives stored events from any place, then new ones, and ends with its signal', async () => {
  const journal = await begun();
  for (const text of ['1', '2', '3']) await journal.append('t', [{ event: say(text) }]);
  const watching = until(journal, 1);
  await journal.append('t', [{ event: say('4') }]);
  await journal.append('t', [{ event: say(END) }]);
  const seqs = (await watching).map((item) => ('event' in item ? item.event.seq : 0));
  expect(seqs).toEqual([2, 3, 4, 5]);
  const stopped = new AbortController();
  const waiting = collect(journal.tail('t', 5, stopped.signal));
  await sleep(60);
  stopped.abort();
  expect(await waiting).toEqual([]);
});

test('closing the journal ends its tails', async () => {
  const journal = await openJournal({ home: await tempHome() });
  await journal.createTask(taskOf('t'));
  const waiting = collect(journal.tail('t', 0, new AbortController().signal));
  await sleep(60);
  await journal.close();
  expect(await waiting).toEqual([]);
});

test('a tail sees what another process writes, whole and in order', async () => {
  const home = await tempHome();
  const journal = await testJournal({ home });
  await journal.createTask(taskOf('t'));
  const program = await compiled('journal-writer');
  const watching = until(journal, 0);
  const child = spawn(process.execPath, [program, home, 'append', 't', '50'], { stdio: 'ignore' });
  expect(await once(child, 'exit')).toEqual([0, null]);
  await journal.append('t', [{ event: say(END) }]);
  const seqs = (await watching).map((item) => ('event' in item ? item.event.seq : 0));
  expect(seqs).toEqual(Array.from({ length: 51 }, (_, i) => i + 1));
});

test('a viewer that joins late gets a stream from its start; one attempt given up shows in neither', async () => {
  const journal = await begun();
  const early = until(journal, 0);
  await granted(journal, 't', 'u');
  for (const [offset, text] of ['old ', 'words'].entries())
    await journal.addPartial(piece('u', 1, 0, offset * 4, text));
  await granted(journal, 't', 'u');
  await journal.addPartial(piece('u', 1, 0, 9, ' of a zombie'));
  await journal.addPartial(piece('u', 2, 0, 0, 'new '));
  await journal.addPartial(piece('u', 2, 0, 4, 'words'));
  const late = until(journal, 0);
  await sleep(100);
  await journal.putBlock('u', 2, {
    index: 0,
    content: { type: 'text', text: 'new words!' },
    say: textOf('u', 2, 0, 'new words!'),
  });
  await journal.addPartial(piece('u', 2, 0, 9, '! late'));
  await journal.closeTurn('u', 2, { stop: 'end_turn', usage: usageOf('u', 2) });
  await journal.append('t', [{ event: say(END) }]);
  const [first, second] = [await early, await late];
  const texts = second.flatMap((item) => ('partial' in item ? item.partial.text : []));
  expect(texts).toEqual(['new ', 'words']);
  expect(screenOf(first)).toEqual(new Map([['u:0', 'new words!']]));
  expect(screenOf(second)).toEqual(new Map([['u:0', 'new words!']]));
  expect(await journal.readPartials('t', 0)).toEqual([]);
});

type Step =
  | { do: 'claim' | 'retract' | 'commit' | 'close' | 'result' }
  | { do: 'piece' | 'finish' | 'zombie'; block: number; size: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('claim', 'retract', 'commit', 'close', 'result') }) },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constantFrom('piece', 'piece', 'finish', 'zombie'),
      block: fc.integer({ min: 0, max: 2 }),
      size: fc.integer({ min: 1, max: 9 }),
    }),
  },
);

test('whatever is written, retracted and closed, every viewer rebuilds the text of the final events', async () => {
  const home = await tempHome();
  const journal = await testJournal({ home });
  const other = await testJournal({ home });
  let number = 0;
  const steps = fc.array(step, { minLength: 5, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(), async (list, late) => {
      const task = `t${++number}`;
      await journal.createTask(taskOf(task));
      const writer = new Writer(journal, task);
      const viewers = [until(other, 0, task)];
      for (const [i, one] of list.entries()) {
        if (i === late % list.length) viewers.push(until(journal, 0, task), until(other, 0, task));
        await writer.take(one);
        if (i % 8 === 0) await sleep(1);
      }
      await writer.end();
      const expected = await finalTexts(journal, task);
      for (const items of await Promise.all(viewers)) expect(screenOf(items)).toEqual(expected);
    }),
    { numRuns: 40 },
  );
});

/** Plays the part of a model request and its zombies; steps that make no sense at the moment are left out. */
class Writer {
  #turn = 0;
  #attempt = 0;
  #committed = false;
  #sent = new Map<string, number>();
  #stored = new Set<number>();

  constructor(
    private readonly journal: Journal,
    private readonly task: string,
  ) {}

  async take(one: Step): Promise<void> {
    const turn = this.#key();
    if (one.do === 'claim') return this.#claim();
    if (this.#attempt === 0) return;
    const attempt = this.#attempt;
    switch (one.do) {
      case 'retract':
        if (this.#committed) return;
        await this.journal.retractTurn(turn, attempt, 'cut', usageOf(turn, attempt));
        return this.#restart();
      case 'commit':
        this.#committed = true;
        return this.journal.commitTurn(turn, attempt);
      case 'close':
        await this.journal.closeTurn(turn, attempt, { stop: 'end_turn', usage: usageOf(turn, attempt) });
        return this.#next();
      case 'result':
        return this.#runCommand();
      case 'piece':
        return this.#sendPiece(attempt, one.block, one.size);
      case 'zombie':
        return this.journal.addPartial({ ...piece(turn, attempt - 1, one.block, 0, 'ZZZ'), task: this.task });
      case 'finish':
        return this.#finish(attempt, one.block);
    }
  }

  async end(): Promise<void> {
    if (this.#attempt > 0) await this.take({ do: 'close' });
    await this.journal.append(this.task, [{ event: say(END) }]);
  }

  async #claim(): Promise<void> {
    const claim = await this.journal.claimTurn({ task: this.task, turn: this.#key() }, null, RESERVE);
    this.#restart();
    if (claim.claim === 'granted') this.#attempt = claim.attempt;
    else this.#next();
  }

  async #sendPiece(attempt: number, block: number, size: number): Promise<void> {
    const stream = callKey(this.#key(), block);
    const from = this.#stored.has(block) ? 0 : (this.#sent.get(stream) ?? 0);
    const text = textFor(stream, attempt).slice(from, from + size);
    await this.journal.addPartial({ ...piece(this.#key(), attempt, block, from, text), task: this.task });
    this.#sent.set(stream, from + text.length);
  }

  async #finish(attempt: number, block: number): Promise<void> {
    const turn = this.#key();
    const text = textFor(callKey(turn, block), attempt);
    const event = textOf(turn, attempt, block, text);
    await this.journal.putBlock(turn, attempt, { index: block, content: { type: 'text', text }, say: event });
    this.#stored.add(block);
  }

  async #runCommand(): Promise<void> {
    const call = callKey(this.#key(), 9);
    const out = { task: this.task, turn: this.#key(), stream: `${call}:out`, kind: 'command_output' as const };
    for (const attempt of [1, 2]) await this.journal.addPartial({ ...out, attempt, offset: 0, text: `run ${attempt}` });
    const said = { type: 'say' as const, say: 'command_output' as const, call, tool: 'execute_command' };
    const event = { ...said, status: 'done' as const, text: 'run 2, done', ms: 1 };
    const row = { call, status: 'done' as const, text: { text: 'x' }, excerpt: 'x', mistake: false };
    await this.journal.putResult(row, [{ event }]);
    await this.journal.addPartial({ ...out, attempt: 3, offset: 0, text: 'too late' });
  }

  #restart(): void {
    this.#attempt = 0;
    this.#committed = false;
    this.#sent.clear();
    this.#stored.clear();
  }

  #next(): void {
    this.#restart();
    this.#turn++;
  }

  #key(): string {
    return `${this.task}-${this.#turn}`;
  }
}

/** Of each attempt another text, with characters of two units that pieces may cut. */
function textFor(stream: string, attempt: number): string {
  return `${attempt} \u{1f600}\u{1f680} of ${stream} \u{1f600}`;
}

function piece(turn: string, attempt: number, block: number, offset: number, text: string): Partial {
  return { task: 't', turn, stream: callKey(turn, block), attempt, kind: 'text', offset, text };
}

async function begun(): Promise<Journal> {
  const journal = await testJournal();
  await journal.createTask(taskOf('t'));
  return journal;
}

/** Everything a tail yields until the event that ends the test. */
async function until(journal: Journal, after: number, task = 't'): Promise<TailItem[]> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const items: TailItem[] = [];
  for await (const item of journal.tail(task, after, stop.signal)) {
    items.push(item);
    const event = 'event' in item ? item.event.event : undefined;
    if (event?.type === 'say' && event.say === 'info' && event.text === END) return items;
  }
  return items;
}

async function collect(tail: AsyncIterable<TailItem>): Promise<TailItem[]> {
  const items: TailItem[] = [];
  for await (const item of tail) items.push(item);
  return items;
}

/** What stands on a screen that follows a transcript to the letter. */
function screenOf(items: TailItem[]): Map<string, string> {
  const transcript = new Transcript();
  const screen = new Map<string, string>();
  for (const item of items) {
    for (const shown of transcript.apply(item)) {
      if ('append' in shown) {
        expect(shown.append).not.toMatch(/\p{Surrogate}/u);
        screen.set(shown.stream, (screen.get(shown.stream) ?? '') + shown.append);
      } else if ('retracted' in shown) {
        for (const gone of shown.retracted) {
          expect(screen.get(gone.stream) ?? '').toBe(gone.text);
          screen.delete(gone.stream);
        }
      } else if (shown.stream !== undefined) {
        const before = screen.get(shown.stream) ?? '';
        expect(before.length).toBe(shown.shown);
        const whole = 'text' in shown.final.event ? shown.final.event.text : '';
        screen.set(shown.stream, shown.rest === undefined ? whole : before + shown.rest);
      } else {
        const { event } = shown.final;
        if (event.type === 'say' && event.say === 'command_output') screen.set(`${event.call}:out`, event.text);
      }
    }
  }
  return screen;
}

async function finalTexts(journal: Journal, task: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const { event } of await journal.readEvents(task, 0)) {
    if (event.type === 'retract') {
      const gone = [...texts.keys()].filter((key) => key.startsWith(`${event.turn}:`) && !key.endsWith(':out'));
      for (const key of gone) texts.delete(key);
    }
    if (event.type !== 'say') continue;
    if (event.say === 'text') texts.set(callKey(event.turn, event.block), event.text);
    if (event.say === 'command_output') texts.set(`${event.call}:out`, event.text);
  }
  return texts;
}
