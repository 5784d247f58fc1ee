import { wrap } from './flow.js';
import { columns, type Io, type Paint, type Style, textWidth } from './io.js';
import type { Screen } from './screen.js';
import { clock, dateTime, displayWidth, fitTo } from './text.js';

/** Lines of an account, with the time of what they tell where that is wanted. */
export class Lines {
  /** When what is told happened, in ms. */
  at = 0;
  private day = '';

  constructor(
    private readonly io: Io,
    private readonly screen: Screen,
    private readonly paint: Paint,
    private readonly timed: boolean,
  ) {}

  /** A line that has its colours, in as many lines as it needs. */
  wrapped(text: string): void {
    this.screen.line(wrap(text, textWidth(this.io), '  '));
  }

  /** As many lines as it needs; the first one may say when it happened. */
  text(style: Style, text: string, hang: string, timed: boolean): void {
    const stamp = timed ? this.stamp() : '';
    const [first = '', ...more] = wrap(text, textWidth(this.io) - displayWidth(stamp), hang).split('\n');
    this.screen.line(this.paint(style, first) + this.paint('dim', stamp));
    for (const line of more) this.screen.line(this.paint(style, line));
  }

  /** One line, cut to the screen. */
  fitted(style: Style, text: string): void {
    const time = this.stamp();
    const cut = fitTo(text, columns(this.io) - displayWidth(time));
    this.screen.line(this.paint(style, cut) + this.paint('dim', time));
  }

  time(): string {
    return this.paint('dim', this.stamp());
  }

  /** When the event being shown happened, with the date where that is not the one of the stamp before. */
  private stamp(): string {
    if (!this.timed) return '';
    const [day = ''] = dateTime(this.at).split(' ');
    const known = day === this.day;
    this.day = day;
    return `  ${known ? clock(this.at) : dateTime(this.at)}`;
  }
}
