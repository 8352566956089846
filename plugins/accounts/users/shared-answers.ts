/** One answer for all who ask the same at the same time, as dashboards ask for the first page of a list. */
import { setTimeout as pause } from 'node:timers/promises'

/** A search that takes longer does not hold up the next one for the same; in milliseconds. */
const slowAfterMs = 25

interface Turn<Answer> {
  isOver: Promise<unknown>
  /** The answer for all who asked after this turn had begun. */
  next?: Promise<Answer>
}

/**
 * A function that finds an answer for all who ask with the same key, which says everything that the answer depends on.
 * Whoever asks alone is answered at once. Whoever asks while an answer is being found gets the next one, together with
 * the others who wait: it is looked for after all of them asked, and so holds all that was committed until then.
 */
export function shareAnswers<Answer>() {
  const turns = new Map<string, Turn<Answer>>()

  function begin(key: string, find: () => Promise<Answer>): Promise<Answer> {
    const answer = find()
    const settled = answer.catch(() => {})
    const turn: Turn<Answer> = {
      isOver: Promise.race([settled, pause(slowAfterMs, undefined, { ref: false })]),
    }
    turns.set(key, turn)
    turn.isOver.then(() => {
      if (!turn.next) turns.delete(key)
    })
    return answer
  }

  return function ask(key: string, find: () => Promise<Answer>): Promise<Answer> {
    const turn = turns.get(key)
    if (!turn) return begin(key, find)
    turn.next ??= turn.isOver.then(() => begin(key, find))
    return turn.next
  }
}
