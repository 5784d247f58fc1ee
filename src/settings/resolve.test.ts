import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_TASK_SETTINGS } from '../domain/settings.js';
import { DEFAULT_MODEL } from '../model/prices.js';
import { resolveSettings } from './resolve.js';
import type { PartialSettings } from './schema.js';

describe('settings files', () => {
  let root: string;
  let home: string;
  let workspace: string;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'longhaul-settings-')));
    [home, workspace] = [join(root, 'home'), join(root, 'ws')];
    for (const folder of [home, workspace]) mkdirSync(folder);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const homeFile = () => join(home, 'settings.json');
  const ownFile = () => join(workspace, '.longhaul', 'settings.json');
  const write = (path: string, content: unknown) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
  };
  const resolve = (request: PartialSettings = {}, files = true) => resolveSettings({ home, workspace, files }, request);
  const errorOf = async (): Promise<string> => {
    const err = await resolve().then(
      () => undefined,
      (thrown: { slug: string; message: string }) => thrown,
    );
    expect(err?.slug).toBe('bad-settings');
    return err?.message ?? '';
  };

  it('are not needed', async () => {
    expect(await resolve()).toEqual({
      settings: {
        ...DEFAULT_TASK_SETTINGS,
        model: DEFAULT_MODEL,
        policy: { yolo: false, approve: ['read'] },
        limits: {},
      },
      tightened: [],
    });
  });

  it('may have comments and trailing commas, and each source goes before the one above it', async () => {
    write(
      homeFile(),
      `\ufeff{
        // of this machine
        "model": "home", "planModel": "home-plan", "profile": "work", "toolProtocol": "text", /* all */ "yolo": true,
        "limits": { "maxTurns": 50, "maxTime": "2h", },
        "focusChain": { "enabled": false },
        "asks": { "all": { "deadline": "3d", "default": "no", "remind": "1d" }, "command": { "deadline": "1h" } },
      }`,
    );
    write(ownFile(), { model: 'ws', focusChain: { remindEvery: 9 } });
    const { settings, profile, tightened } = await resolve({ planModel: 'flag-plan', limits: { maxTurns: 60 } });
    expect(settings).toMatchObject({
      model: 'ws',
      planModel: 'flag-plan',
      toolProtocol: 'text',
      policy: { yolo: true, approve: ['read'] },
      limits: { maxTurns: 60, maxTimeMs: 7_200_000 },
      focusChain: { enabled: false, remindEvery: 9 },
    });
    expect(settings.asks.command).toEqual({ deadlineMs: 3_600_000 });
    expect(settings.asks.followup).toEqual({ deadlineMs: 259_200_000, default: 'no', remindMs: 86_400_000 });
    expect([profile, tightened]).toEqual(['work', []]);
    expect((await resolve({}, false)).settings.model).toBe(DEFAULT_MODEL);
  });

  it.each([
    ['{ "model": "m"\n  "yolo": true }', '2:3: this is not JSON: a comma is missing.'],
    ['{ "model": }', '1:12: this is not JSON: a value is missing.'],
    ['{\n\n  "yolo": true', '3:15: this is not JSON: a closing brace is missing.'],
    ['{ "model": "m', '1:12: this is not JSON: the text has no closing quote.'],
    ['', '1:1: this is not JSON'],
    ['// nothing\n', 'this is not JSON'],
    ['{} {}', '1:4: this is not JSON: there is more behind its end.'],
    ['['.repeat(100_000), 'this is not JSON'],
    ['[]', '1:1: the file is an object'],
    ['{ "yolo": true,\n "yolo": false }', '2:2: this is not JSON: "yolo" is given twice.'],
    ['{\r\n  "limits": {\r\n    "maxTurn": 3 } }', '3:5: "limits.maxTurn" is no setting. Did you mean maxTurns?'],
    ['{ "aprove": [] }', '1:3: "aprove" is no setting. Did you mean approve?'],
    ['{ "__proto__": { "yolo": true } }', '1:3: "__proto__" is no setting.'],
    ['{ "asks": { "commnad": {} } }', '1:13: "asks.commnad" is no setting. Did you mean command?'],
    ['{ "asks": { "all": { "deadlin": "1d" } } }', '1:22: "asks.all.deadlin" is no setting. Did you mean deadline?'],
    ['{ "asks": { "all": { "deadline": "1s" } } }', '1:34: "asks.all.deadline" is a duration'],
    ['{ "asks": { "all": { "default": "maybe" } } }', '1:33: "asks.all.default" is one of yes, no.'],
    ['{ "yolo": "true" }', '1:11: "yolo" is true or false.'],
    ['{ "model": " " }', '1:12: "model" must not be blank.'],
    ['{ "mode": "ask" }', '1:11: "mode" is one of plan, act.'],
    ['{ "approve": ["read", "edit "] }', '1:23: "approve.1" is one of read, read-outside'],
    ['{ "approve": "read" }', '1:14: "approve" is a list'],
    ['{ "limits": { "maxCost": "5" } }', '1:26: "limits.maxCost" is an amount in USD'],
    ['{ "limits": { "maxTurns": 0 } }', '1:27: "limits.maxTurns" is a whole number of turns'],
    ['{ "limits": { "softPercent": 100 } }', '1:30: "limits.softPercent" is a percentage'],
    ['{ "limits": { "maxTime": 90 } }', '1:26: "limits.maxTime" is a duration'],
    ['{ "commands": { "alow": [] } }', '1:17: "commands.alow" is no setting. Did you mean allow?'],
    ['{ "commands": { "deny": "rm" } }', '1:25: "commands.deny" is a list'],
    ['{ "limits": null }', '1:13: "limits" is an object'],
    ['{ "maxConsecutiveMistakes": 1.5 }', '1:29: "maxConsecutiveMistakes" is a whole number from 1 to 1000.'],
    ['{ "focusChain": { "remindEvery": 0 } }', '1:34: "focusChain.remindEvery" is a whole number'],
    ['{ "toolProtocol": "xml" }', '1:19: "toolProtocol" is one of auto, native, text.'],
  ])('that say %j are an error with its place', async (text, said) => {
    for (const path of [homeFile(), ownFile()]) {
      write(path, text);
      const message = await errorOf();
      expect(message).toContain(said);
      expect(message.startsWith(`${path}:`)).toBe(true);
      rmSync(path);
    }
  });

  it('are told all their problems at once', async () => {
    write(homeFile(), '{\n"modl": 1,\n"yolo": 2,\n"mode": 3 }');
    expect((await errorOf()).split('\n').map((line) => line.slice(homeFile().length))).toEqual([
      expect.stringMatching(/^:[34]:/),
      expect.stringMatching(/^:[34]:/),
      ':2:1: "modl" is no setting. Did you mean model?',
    ]);
  });

  it('must be regular, small, and UTF-8', async () => {
    for (const path of [homeFile(), ownFile()]) {
      mkdirSync(path, { recursive: true });
      expect(await errorOf()).toBe(`${path} is a folder.`);
      rmSync(path, { recursive: true });
      write(path, `{ "model": "${'x'.repeat(300_000)}" }`);
      expect(await errorOf()).toBe(`${path} is larger than 262,144 bytes.`);
      write(path, Buffer.from([0x7b, 0xff, 0x7d]));
      expect(await errorOf()).toBe(`${path} is not UTF-8 text.`);
      rmSync(path);
      symlinkSync('settings.json', path);
      expect(await errorOf()).toContain('cannot be read (ELOOP)');
      rmSync(path);
    }
  });

  it('of a workspace do not lead out of it; those of the home may be a link', async () => {
    write(join(root, 'elsewhere.json'), { model: 'elsewhere' });
    symlinkSync(join(root, 'elsewhere.json'), homeFile());
    expect((await resolve()).settings.model).toBe('elsewhere');
    mkdirSync(dirname(ownFile()));
    symlinkSync(join(root, 'elsewhere.json'), ownFile());
    rmSync(homeFile());
    expect(await errorOf()).toBe(`${ownFile()} is a link that leads out of the workspace.`);
    rmSync(dirname(ownFile()), { recursive: true });
    symlinkSync(root, dirname(ownFile()));
    write(join(root, 'settings.json'), { model: 'm' });
    expect(await errorOf()).toContain('leads out of the workspace');
  });

  it('of a home that lies in the workspace are the home’s only', async () => {
    home = join(workspace, '.longhaul');
    write(homeFile(), { yolo: true, profile: 'mine' });
    expect(await resolve()).toMatchObject({ profile: 'mine', settings: { policy: { yolo: true } } });
  });

  it.each([
    [{ profile: 'x' }, '1:12: "profile" may not be set by a workspace.'],
    [{ yolo: true }, '1:9: "yolo" may only be false in a workspace.'],
    [{ strictPlanMode: false }, '"strictPlanMode" may only be true in a workspace.'],
    [{ asks: { tool: { default: 'yes' } } }, '1:28: "asks.tool.default" may only be "no" in a workspace.'],
  ])('of a workspace may not say %j', async (content, said) => {
    write(ownFile(), content);
    expect(await errorOf()).toContain(said);
  });

  it('of a workspace tighten, and it is said', async () => {
    write(homeFile(), { strictPlanMode: false, asks: { all: { deadline: '2d', default: 'yes' } }, mode: 'plan' });
    write(ownFile(), {
      yolo: false,
      approve: ['edit', 'mcp'],
      limits: { maxTurns: 5, maxCost: 9, maxTime: '90s' },
      maxConsecutiveMistakes: 2,
      strictPlanMode: true,
      asks: { command: { deadline: '3d' } },
      mode: 'act',
    });
    const request: PartialSettings = { yolo: true, approve: ['read', 'edit'], limits: { maxCost: 1, maxTurns: 40 } };
    const { settings, tightened } = await resolve(request);
    expect(settings).toMatchObject({
      policy: { yolo: false, approve: ['edit'] },
      limits: { maxTurns: 5, maxCost: 1, maxTimeMs: 90_000 },
      maxConsecutiveMistakes: 2,
      strictPlanMode: true,
      mode: 'plan',
    });
    expect(settings.asks.command).toEqual({ deadlineMs: 172_800_000, default: 'no' });
    expect(settings.asks.tool).toEqual({ deadlineMs: 172_800_000, default: 'yes' });
    expect(tightened).toEqual([
      'approve is edit',
      'yolo is off',
      'strictPlanMode is on',
      'limits.maxTurns is 5',
      'limits.maxTime is 90s',
      'maxConsecutiveMistakes is 2',
      'asks of command are stricter',
    ]);
    write(ownFile(), { approve: ['read', 'all'], limits: { maxTurns: 500 }, maxConsecutiveMistakes: 50, yolo: false });
    write(homeFile(), { limits: { maxTurns: 10 } });
    expect((await resolve()).tightened).toEqual([]);
  });
});
