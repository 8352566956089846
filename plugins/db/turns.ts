/** What many requests wait for together goes to the database by turns: while one is on its way, the next collects. */
import { bindContext } from '../context.ts'
import { TimeLimit } from '../request-duration/time-limit.ts'

export interface TurnOptions {
  /** What takes longer does not hold up the next; in milliseconds. */
  slowAfterMs: number
  /** After so many milliseconds nobody waits for it any more. */
  longestMs: number
}

/** One at a time, but for those that take long. None ends with the request that happened to begin it. */
export function takeTurns({ slowAfterMs, longestMs }: TurnOptions) {
  const waiting: (() => void)[] = []
  let isTaken = false

  function next(): void {
    const dispatch = waiting.shift()
    isTaken = dispatch !== undefined
    if (dispatch) setImmediate(dispatch)
  }

  return {
    ask(dispatch: () => void): void {
      // A statement belongs to the trace of a request that waits for it, not of the one that was answered before.
      waiting.push(bindContext(dispatch))
      if (!isTaken) next()
    },

    /** `end` is to be called at the end. */
    begin(): { limit: TimeLimit; end: () => void } {
      const limit = new TimeLimit()
      let isOver = false
      const giveWay = () => {
        if (!isOver) next()
        isOver = true
      }
      let timer = setTimeout(() => {
        giveWay()
        timer = setTimeout(() => limit.end(), longestMs - slowAfterMs).unref()
      }, slowAfterMs).unref()
      const end = () => {
        clearTimeout(timer)
        giveWay()
      }
      return { limit, end }
    },
  }
}
