/** Resources of a test or a suite are closed at its end, last first: the database after its users. */
import { after } from 'node:test'

export interface Ending {
  after(stop: () => Promise<void>): void
}

/** Called in a suite, for what its tests share. */
export function endingOfSuite(): Ending {
  return lastFirst({ after })
}

/** `node:test` itself closes first what was opened first. */
export function lastFirst(t: Ending): Ending {
  const opened = new AsyncDisposableStack()
  t.after(() => opened.disposeAsync())
  return { after: (stop) => opened.defer(stop) }
}
