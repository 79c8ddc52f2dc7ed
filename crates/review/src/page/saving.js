// Edits on their way to the program: one after the other, and again until it answers, so that nothing typed is lost.

import {post} from "./api.js";

/** Milliseconds between attempts while the program does not answer. */
const AGAIN = 1_000;

export class Saving {
  /** `changed(answers)` is called when there are more or fewer edits that are not saved, and tells whether the program answers. */
  constructor(changed) {
    this.queue = [];
    this.changed = changed;
  }

  /** Returns whether there are edits that are not saved. */
  get isWaiting() {
    return this.queue.length > 0;
  }

  /** Returns the text of a cell that is not saved yet. `column` is null for a whole row. */
  text(path, row, column) {
    for (const {to, edits} of this.queue.toReversed()) {
      const found = to === path && edits.find((edit) => edit.row === row && edit.column === column);
      if (found) return found.text ?? undefined;
    }
    return undefined;
  }

  /** Sends edits after those before them. Returns the answer; fails if the program refuses them. */
  add(to, edits) {
    const one = {to, edits};
    one.answer = new Promise((resolve, reject) => Object.assign(one, {resolve, reject}));
    this.queue.push(one);
    this.changed();
    if (this.queue.length === 1) this.send();
    return one.answer;
  }

  /** Waits until all that was typed is saved or refused. */
  async settled() {
    while (this.queue.length) await Promise.allSettled(this.queue.map((one) => one.answer));
  }

  async send() {
    while (this.queue.length) {
      const [{to, edits, resolve, reject}] = this.queue;
      try {
        const answer = await post(to, {edits});
        this.queue.shift();
        this.changed(true);
        resolve(answer);
      } catch (error) {
        if (error.status === 0) {
          this.changed(false);
          await new Promise((wait) => setTimeout(wait, AGAIN));
          continue;
        }
        this.queue.shift();
        this.changed(true);
        reject(error);
      }
    }
  }
}
