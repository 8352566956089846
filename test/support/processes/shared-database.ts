/** One database for the servers of a suite, which differ in their settings and run one after the other. */
import { cloneDatabase, type TestDatabase } from '../database.ts'
import { endingOfSuite } from './ending.ts'

/** Called in a suite: its tests start servers on this database, which is dropped when the suite ends. */
export function sharedDatabase(): () => Promise<TestDatabase> {
  const ending = endingOfSuite()
  let database: Promise<TestDatabase> | undefined
  return async () => {
    database ??= cloneDatabase(ending)
    const { url } = await database
    return { url, drop: async () => {} }
  }
}
