import type {
  AndOr,
  CommandNode,
  CompoundList,
  ParsedScript,
  Pipeline,
  Script,
  Statement,
  SyntaxNode,
  Word,
} from 'unbash';
import { expansionsIn, isNumeric } from './expansions.js';
import { parseCommandLine } from './grammar.js';
import { placeOf } from './places.js';
import { judgeRedirection } from './redirects.js';
import { judgeSimple } from './simple.js';
import { isSteeringVariable } from './variables.js';
import { ALLOWED, type Part, type PolicyContext, unclear } from './verdicts.js';
import { argumentsOf } from './words.js';

/** Texts in texts that are read as commands, at most. */
const MAX_DEPTH = 8;

/** Where a command may run: real paths; undefined when that is not known. */
export type Folders = readonly string[] | undefined;

/** Goes through a script in the order in which bash would, judges every simple command, and keeps track of `cd`. */
export class Walk {
  readonly parts: Part[] = [];
  private loops = 0;

  constructor(
    readonly ctx: PolicyContext,
    readonly children: (node: SyntaxNode, each: (child: SyntaxNode) => void) => void,
    private source: string,
    public folders: Folders,
    private readonly depth = 0,
  ) {}

  async script(script: ParsedScript | Script): Promise<void> {
    for (const statement of script.commands) await this.statement(statement);
  }

  /** What another command runs in a shell of its own. @returns undefined when it is no text that bash reads */
  async inner(text: string): Promise<Part[] | undefined> {
    if (this.depth >= MAX_DEPTH) return undefined;
    const parsed = await parseCommandLine(text);
    if ('problem' in parsed) return undefined;
    const walk = new Walk(this.ctx, this.children, text, this.folders, this.depth + 1);
    await walk.script(parsed.script);
    return walk.parts;
  }

  /** Notes something that is no command. */
  note(node: { pos: number; end: number }, found: { unsafe: string; hidden?: string | undefined }): void {
    this.parts.push({
      command: this.textOf(node),
      unsafe: found.unsafe,
      ruled: this.ctx.rules.map((rules) => (found.hidden === undefined ? ALLOWED : unclear(rules, found.hidden))),
    });
  }

  textOf({ pos, end }: { pos: number; end: number }): string {
    return this.source.slice(pos, end);
  }

  /** A relative `cd` that runs more than once leads somewhere else each time. */
  get repeated(): boolean {
    return this.loops > 0;
  }

  /** Substitutions and what else bash carries out in words, on its way to a command. @returns what must not go unasked about them */
  async expansions(nodes: readonly SyntaxNode[]): Promise<{ unsafe?: string; hidden?: string }> {
    const { scripts, unsafe, hidden } = expansionsIn(nodes, this.children);
    for (const script of scripts) await this.apart(() => this.nested(script));
    const why = unsafe ?? hidden;
    return { ...(why !== undefined && { unsafe: why }), ...(hidden !== undefined && { hidden }) };
  }

  private async nested(script: ParsedScript): Promise<void> {
    const { source } = this;
    if (script.source !== undefined) this.source = script.source;
    await this.script(script);
    this.source = source;
  }

  /** In a shell of its own: what it does to the folder is not seen outside. */
  private async apart(work: () => Promise<void>): Promise<void> {
    const { folders } = this;
    await work();
    this.folders = folders;
  }

  private async statement({ command, background }: Statement): Promise<void> {
    if (background) return this.apart(() => this.any(command));
    return this.any(command);
  }

  private async any(node: CommandNode | Pipeline | AndOr): Promise<void> {
    if (node.type === 'AndOr') return this.andOr(node);
    if (node.type !== 'Pipeline') return this.command(node);
    const [only] = node.commands;
    if (only && node.commands.length === 1) return this.command(only);
    for (const command of node.commands) await this.apart(() => this.command(command));
  }

  /** Behind `&&` a `cd` has happened; behind `||`, and after all, it may or may not have. */
  private async andOr({ commands, operators }: AndOr): Promise<void> {
    const seen: Folders[] = [this.folders];
    let unsure = false;
    for (const [at, command] of commands.entries()) {
      unsure ||= operators[at - 1] === '||';
      if (unsure) this.folders = union(seen);
      await this.any(command);
      seen.push(this.folders);
    }
    const [start, first] = seen;
    const isPlain = !unsure && seen.slice(2).every((one) => one === first);
    this.folders = isPlain ? first : union([start, ...seen.slice(1)]);
  }

  private async list({ commands }: CompoundList): Promise<void> {
    for (const statement of commands) await this.statement(statement);
  }

  /** Of these only some are run, or none. */
  private async branches(...lists: (CompoundList | undefined)[]): Promise<void> {
    const seen: Folders[] = [this.folders];
    for (const list of lists) {
      if (list) await this.list(list);
      seen.push(this.folders);
      this.folders = union(seen);
    }
  }

  private async loop(...lists: CompoundList[]): Promise<void> {
    const { folders } = this;
    this.loops++;
    for (const list of lists) await this.list(list);
    this.loops--;
    if (this.folders !== folders) this.folders = undefined;
  }

  private async words(node: { pos: number; end: number }, nodes: readonly SyntaxNode[]): Promise<void> {
    const { unsafe, hidden } = await this.expansions(nodes);
    if (unsafe !== undefined) this.note(node, { unsafe, hidden });
  }

  private async command(node: CommandNode): Promise<void> {
    switch (node.type) {
      case 'Command':
        return judgeSimple(this, node);
      case 'Redirected':
        for (const redirection of node.redirects) await judgeRedirection(this, redirection);
        return this.command(node.command);
      case 'Subshell':
        return this.apart(() => this.list(node.body));
      case 'BraceGroup':
        return this.list(node.body);
      case 'If':
        await this.list(node.clause);
        return this.branches(node.then, ...node.elif.flatMap((one) => [one.clause, one.then]), node.else);
      case 'While':
        return this.loop(node.clause, node.body);
      case 'For':
      case 'Select':
        this.variable(node.name);
        if (node.type === 'Select') this.note(node, { unsafe: 'it reads an answer from its input' });
        await this.words(node, node.wordlist ?? []);
        await this.patterns(node, node.wordlist ?? []);
        return this.loop(node.body);
      case 'ArithmeticFor': {
        const parts = [node.initialize, node.test, node.update].filter((one) => one !== undefined);
        const hidden = parts.every(isNumeric) ? undefined : 'its arithmetic could evaluate what a variable holds';
        this.note(node, { unsafe: hidden ?? 'it is a loop of arithmetic', hidden });
        await this.words(node, parts);
        return this.loop(node.body);
      }
      case 'ArithmeticCommand': {
        const hidden = isNumeric(node.expression) ? undefined : 'its arithmetic could evaluate what a variable holds';
        if (hidden !== undefined) this.note(node, { unsafe: hidden, hidden });
        return this.words(node, node.expression ? [node.expression] : []);
      }
      case 'TestCommand':
        return this.words(node, [node.expression]);
      case 'Case':
        await this.words(node, [node.word, ...node.items.flatMap((one) => one.pattern)]);
        return this.branches(...node.items.map((one) => one.body));
      case 'Function':
        this.note(node, { unsafe: 'it defines a function' });
        return this.body(node.body);
      case 'Coproc':
        this.note(node, { unsafe: 'it starts a process beside the others' });
        return this.apart(() => this.body(node.body));
    }
  }

  private async body(body: CommandNode | CompoundList): Promise<void> {
    const { folders } = this;
    this.loops++;
    if (body.type === 'CompoundList') await this.list(body);
    else await this.command(body);
    this.loops--;
    if (this.folders !== folders) this.folders = undefined;
  }

  /** Names of files that a list of words shows. */
  private async patterns(node: { pos: number; end: number }, words: readonly Word[]): Promise<void> {
    const { workspace, ignored, rules } = this.ctx;
    for (const arg of words.flatMap(argumentsOf)) {
      if (arg.pattern === undefined) continue;
      const { outside } = await placeOf(arg, this.folders, workspace, ignored);
      if (outside !== undefined)
        this.parts.push({ command: this.textOf(node), outside: true, ruled: rules.map(() => ALLOWED) });
    }
  }

  private variable(name: Word): void {
    if (/^[a-z][a-z0-9_]*$/.test(name.value)) return;
    const hidden = isSteeringVariable(name.value) ? `it sets ${name.value}, which changes what runs` : undefined;
    this.note(name, { unsafe: hidden ?? `it sets ${name.value}`, hidden });
  }
}

function union(all: readonly Folders[]): Folders {
  const folders = new Set<string>();
  for (const one of all) {
    if (!one) return undefined;
    for (const folder of one) folders.add(folder);
  }
  if (all.every((one) => one === all[0])) return all[0];
  return [...folders];
}
